# From samples in R to columns of numbers and texts.

# A named list of columns, each double or character.
as_columns <- function(values, name) {
  if (is.null(values)) fail(name, " is NULL, expected a data frame, a matrix or a vector")
  if (is.data.frame(values)) {
    columns <- unclass(values)
    attr(columns, "row.names") <- NULL
    wide <- vapply(columns, function(column) length(dim(column)) == 2, NA)
    if (any(wide)) {  # as cbind() in a model frame makes them
      parts <- lapply(seq_along(columns), function(j) {
        if (wide[j]) as_columns(columns[[j]], name) else columns[j]
      })
      columns <- do.call(c, parts)
    }
  } else if (is.matrix(values) && is.atomic(values)) {
    columns <- lapply(seq_len(ncol(values)), function(j) as.vector(values[, j]))
    names(columns) <- colnames(values)
  } else if (length(dim(values)) > 2) {
    fail(name, " has ", length(dim(values)), " dimensions, expected 2 (rows and columns) or a vector")
  } else if (is.atomic(values) || is.factor(values)) {
    columns <- list(values)
  } else {
    fail(name, " is ", described(values), ", expected a data frame, a matrix or a vector")
  }
  if (length(columns) == 0) fail(name, ": no columns, expected at least one")
  if (is.null(names(columns))) names(columns) <- as.character(seq_along(columns))
  if (anyNA(names(columns)) || any(names(columns) == "")) fail(name, " has a column without a name")
  twice <- unique(names(columns)[duplicated(names(columns))])
  if (length(twice)) fail(name, " has several columns of one name, \"", twice[1], "\", expected different names")
  names(columns) <- enc2utf8(names(columns))
  Map(function(column, label) as_column(column, paste0(name, ": column \"", label, "\"")), columns, names(columns))
}

# Numbers as they are, times as days since 1970-01-01, truth values as 0 and 1, factors as texts.
as_column <- function(column, label) {
  if (inherits(column, "integer64")) fail(label, " is of type integer64, expected numbers; as.numeric() converts it")
  if (inherits(column, "Date")) return(as.double(unclass(column)))
  if (inherits(column, "POSIXt")) return(as.double(unclass(as.POSIXct(column))) / 86400)
  if (is.factor(column)) return(enc2utf8(as.character(column)))
  if (is.character(column)) return(enc2utf8(as.vector(column)))
  if (is.logical(column) || is.numeric(column)) return(as.double(unclass(column)))
  fail(label, " is ", described(column), ", expected numbers, text, factors, dates or truth values")
}

# The data of a call as the library takes them.
samples_of <- function(x, y, names, x_weights = NULL, y_weights = NULL, paired = FALSE, blocks = NULL, clusters = NULL) {
  by_name <- !is.null(names_of(x)) && !is.null(names_of(y))
  x <- as_columns(x, "x")
  y <- as_columns(y, "y")
  if (!by_name) {
    if (length(x) != length(y)) {
      fail("x has ", length(x), " and y ", length(y), " columns, expected the same number")
    }
    names(y) <- names(x)
  }
  rows <- c(length(x[[1]]), length(y[[1]]))
  list(x = x, y = y, names = names, rows_of_x = as.double(rows[1]),
       x_weights = weights_of(x_weights, rows[1], "x_weights"), y_weights = weights_of(y_weights, rows[2], "y_weights"),
       paired = one_flag(paired, "paired"), design = design_of(paired, blocks, clusters, rows))
}

names_of <- function(values) if (is.data.frame(values)) names(values) else colnames(values)

weights_of <- function(weights, rows, name) {
  if (is.null(weights)) return(NULL)
  if (!is.numeric(weights) || is.object(weights)) fail(name, " is ", described(weights), ", expected numbers")
  if (length(weights) != rows) fail(name, " has ", length(weights), " weights for ", rows, " rows, expected one per row")
  as.double(weights)
}

design_of <- function(paired, blocks, clusters, rows) {
  none <- list(kind = "independent", groups = double(), names = character())
  given <- c(if (isTRUE(paired)) "paired", if (!is.null(blocks)) "blocks", if (!is.null(clusters)) "clusters")
  if (length(given) > 1) fail(given[1], " and ", given[2], " are both given, expected one of them")
  if (length(given) == 0) return(none)
  if (given == "paired") {
    none$kind <- "paired"
    return(none)
  }
  pair <- if (given == "blocks") blocks else clusters
  if (!is.list(pair) || length(pair) != 2) {
    fail(given, " is ", described(pair), ", expected list(of_x, of_y): a group for each row")
  }
  for (i in 1:2) {
    if (!is.atomic(pair[[i]]) || length(pair[[i]]) != rows[i] || anyNA(pair[[i]])) {
      fail(given, "[[", i, "]] is ", described(pair[[i]]), ", expected a group for each of ", rows[i], " rows")
    }
  }
  labels <- c(as.character(pair[[1]]), as.character(pair[[2]]))
  levels <- sort(unique(labels))
  list(kind = given, groups = as.double(match(labels, levels) - 1), names = paste0("\"", enc2utf8(levels), "\""))
}

# Both samples of `response ~ group`: rows with the first level of the group, then those with the second.
split_by_formula <- function(formula, data) {
  if (length(formula) != 3) fail("the formula has no left side, expected response ~ group")
  if (!missing(data) && !is.data.frame(data)) fail("data is ", described(data), ", expected a data frame")
  response <- formula[[2]]
  if (identical(response, quote(.))) {
    if (missing(data) || !is.data.frame(data)) fail("the formula has \".\" but data is not a data frame")
    variables <- setdiff(names(data), all.vars(formula[[3]]))
    frame <- data[, variables, drop = FALSE]
    group <- eval(formula[[3]], data, environment(formula))
  } else {
    parts <- if (missing(data)) model.frame(formula, na.action = NULL) else {
      model.frame(formula, data = data, na.action = NULL)
    }
    if (ncol(parts) != 2) fail("the formula has ", ncol(parts) - 1, " terms on the right, expected one: response ~ group")
    value <- parts[[1]]
    if (is.matrix(value)) {
      frame <- as.data.frame(value)
    } else {
      frame <- parts[1]
    }
    group <- parts[[2]]
  }
  if (!is.atomic(group) || length(group) != nrow(frame)) {
    fail("the group of the formula is ", described(group), ", expected one value for each of ", nrow(frame), " rows")
  }
  group <- droplevels(as.factor(group))
  if (nlevels(group) != 2) {
    fail("the group of the formula has ", nlevels(group), " different values, expected 2")
  }
  known <- !is.na(group)
  take <- function(level) frame[known & group == level, , drop = FALSE]
  list(x = take(levels(group)[1]), y = take(levels(group)[2]), levels = levels(group))
}

formula_names <- function(formula, levels) {
  group <- deparse1(formula[[3]])
  paste0(deparse1(formula[[2]]), " for ", group, " = ", levels)
}
