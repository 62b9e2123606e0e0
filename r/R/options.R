# From arguments of R to the settings of the library, by its table of options.

known <- new.env(parent = emptyenv())

options_of <- function(call) {
  if (is.null(known[[call]])) known[[call]] <- as.data.frame(.Call(kqd_r_options, call))
  known[[call]]
}

kqd_options <- function(call = c("test", "distance", "explain", "embedding")) {
  options_of(match.arg(call))
}

kqd_methods <- function(id = NULL) {
  table <- as.data.frame(.Call(kqd_r_methods))
  if (is.null(id)) return(table)
  id <- one_text(id, "id")
  if (!id %in% table$id) {
    fail("method \"", id, "\" is unknown", .Call(kqd_r_suggestion, id, table$id), "; kqd_methods() lists all")
  }
  table[table$id == id, ]
}

# An error without the call of an internal function.
fail <- function(...) stop(..., call. = FALSE)

described <- function(value) {
  if (is.null(value)) return("NULL")
  kind <- if (is.object(value)) class(value)[1] else typeof(value)
  if (is.character(value)) value <- iconv(value, "UTF-8", "UTF-8", sub = "byte")
  if (length(value) == 1 && is.atomic(value)) paste0(format(value), " (", kind, ")")
  else paste0("of type ", kind, " and length ", length(value))
}

one_text <- function(value, name) {
  if (is.factor(value)) value <- as.character(value)
  if (!is.character(value) || length(value) != 1 || is.na(value)) {
    fail(name, " is ", described(value), ", expected one character string")
  }
  value <- enc2utf8(value)
  if (!validUTF8(value)) fail(name, " is ", described(value), ", expected text in UTF-8")
  value
}

one_flag <- function(value, name) {
  if (!is.logical(value) || length(value) != 1 || is.na(value)) {
    fail(name, " is ", described(value), ", expected TRUE or FALSE")
  }
  value
}

one_number <- function(value, name, whole = FALSE) {
  expected <- if (whole) "one whole number" else "one number"
  if (!is.numeric(value) || is.object(value) || length(value) != 1 || is.na(value)) {
    fail(name, " is ", described(value), ", expected ", expected)
  }
  if (whole && (value != floor(value) || !is.finite(value))) fail(name, " is ", format(value), ", expected ", expected)
  value
}

# Digits that read back as the same number.
number_text <- function(value) {
  if (value == floor(value) && abs(value) < 2^53) format(value, scientific = FALSE, digits = 16) else sprintf("%.17g", value)
}

points_of <- function(value, name) {
  value <- as_columns(value, name)
  if (!all(vapply(value, is.double, NA))) fail(name, " has a column of text, expected numbers")
  matrix(unlist(value, use.names = FALSE), ncol = length(value))
}

option_value <- function(name, type, value) {
  switch(type,
    flag = if (one_flag(value, name)) "yes" else "no",
    count = number_text(one_number(value, name, whole = TRUE)),
    real = number_text(one_number(value, name)),
    size = paste0(number_text(one_number(value, name)), "B"),
    list = vapply(value, one_text, "", name = name, USE.NAMES = FALSE),
    points = if (is.character(value)) one_text(value, name) else points_of(value, name),
    if (name == "bandwidth" && is.numeric(value)) number_text(one_number(value, name)) else one_text(value, name)
  )
}

# The seed of a call: the given one, or one that R's generator draws, so that set.seed() governs results.
seed_of <- function(seed) {
  if (is.null(seed)) return(number_text(floor(runif(1) * 2^26) * 2^27 + floor(runif(1) * 2^27)))
  seed <- one_number(seed, "seed", whole = TRUE)
  if (seed < 0 || seed >= 2^53) fail("seed is ", format(seed), ", expected a whole number in 0..2^53 - 1")
  number_text(seed)
}

# Arguments that are options of the library, and those of the method: list(given, parameters).
settings_of <- function(call, arguments, seed, method = NULL) {
  table <- options_of(call)
  names <- names(arguments)
  if (length(arguments) > 0 && (is.null(names) || any(names == ""))) {
    fail("an argument has no name, expected names for all arguments after the samples")
  }
  if (anyDuplicated(names)) fail("argument ", names[duplicated(names)][1], " is given twice")
  given <- list(seed = seed_of(seed))
  if (!is.null(method)) given$method <- one_text(method, "method")
  parameters <- character()
  own <- if (call %in% c("test", "distance")) own_parameters(given$method, call) else character()
  for (name in names) {
    value <- arguments[[name]]
    row <- match(name, setdiff(table$name, c("seed", "method")))
    if (!is.na(row)) {
      if (!is.null(value)) given[[name]] <- option_value(name, table$type[table$name == name], value)
    } else if (name %in% own) {
      text <- if (is.character(value)) one_text(value, name) else number_text(one_number(value, name))
      parameters <- c(parameters, paste0(name, "=", text))
    } else {
      fail("argument ", name, " is unknown", .Call(kqd_r_suggestion, name, c(table$name, own)),
           "; kqd_options(\"", call, "\") lists all", if (length(own)) paste0(", the method has ", toString(own)))
    }
  }
  list(given = given, parameters = parameters)
}

# Names of the parameters of a method.
own_parameters <- function(method, call) {
  table <- kqd_methods()
  if (is.null(method)) method <- if (call == "test") "adaptive" else "ekqd"
  own <- table$parameters[table$id == method]
  if (length(own) == 0) character() else strsplit(own, ", ", fixed = TRUE)[[1]]
}

# Runs a call of the library. NULL means that the user interrupted it.
run <- function(...) {
  found <- .Call(...)
  if (is.null(found)) {
    signalCondition(structure(class = c("interrupt", "condition"), list(message = "interrupted", call = NULL)))
    invokeRestart("abort")
  }
  if (is.list(found)) for (text in found$warnings) warning(text, call. = FALSE)
  found
}
