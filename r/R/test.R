kqd_test <- function(x, ...) UseMethod("kqd_test")

kqd_test.default <- function(x, y, method = NULL, ..., paired = FALSE, blocks = NULL, clusters = NULL,
                             x_weights = NULL, y_weights = NULL, null_distribution = FALSE, seed = NULL) {
  names <- c(deparse1(substitute(x)), deparse1(substitute(y)))
  if (missing(y)) fail("y is missing, expected the second sample")
  test_of(x, y, shorter(names), method, list(...), paired, blocks, clusters, x_weights, y_weights, null_distribution,
          seed)
}

kqd_test.formula <- function(formula, data, method = NULL, ..., null_distribution = FALSE, seed = NULL) {
  pair <- split_by_formula(formula, data)
  test_of(pair$x, pair$y, formula_names(formula, pair$levels), method, list(...), FALSE, NULL, NULL, NULL, NULL,
          null_distribution, seed)
}

test_of <- function(x, y, names, method, arguments, paired, blocks, clusters, x_weights, y_weights, null_distribution,
                    seed) {
  data <- samples_of(x, y, names, x_weights, y_weights, paired, blocks, clusters)
  settings <- settings_of("test", arguments, seed, method)
  found <- run(kqd_r_test, data, settings$given, settings$parameters, one_flag(null_distribution, "null_distribution"))
  found$components <- component_table(found$components)
  structure(
    list(
      statistic = c(statistic = found$statistic),
      parameter = c(permutations = found$n_resamples),
      p.value = found$pvalue,
      estimate = if (!is.null(found$effect_size)) c("effect size" = found$effect_size),
      alternative = "the distributions differ",
      method = paste0("Two-sample test by method ", found$method),
      data.name = paste(names, collapse = " and "),
      result = found
    ),
    class = c("kqd_test", "htest")
  )
}

# Expressions as long as data would fill the screen.
shorter <- function(names) ifelse(nchar(names) > 60, c("x", "y"), names)

component_table <- function(components) {
  column <- function(name, kind) vapply(components, function(entry) entry[[name]], kind)
  if (length(components) == 0) return(NULL)
  data.frame(name = column("name", ""), statistic = column("statistic", 0), score = column("score", 0),
             p.value = column("pvalue", 0), p.adjusted = column("adjusted_pvalue", 0), where = column("where", ""))
}

summary.kqd_test <- function(object, ...) {
  print_report(object$result, paste0("Two-sample test by ", object$result$method))
  invisible(object)
}

# The lines of a report; the first is the verdict if it has no label.
print_report <- function(result, title) {
  cat("\n", title, "\n\n", sep = "")
  for (i in seq_along(result$labels)) {
    cat(if (result$labels[i] == "") "  " else sprintf("  %-12s ", result$labels[i]), result$texts[i], "\n", sep = "")
  }
  cat("  seed         ", format(result$seed, scientific = FALSE, digits = 16), "\n\n", sep = "")
}

kqd_distance <- function(x, ...) UseMethod("kqd_distance")

kqd_distance.default <- function(x, y, method = "ekqd", ..., x_weights = NULL, y_weights = NULL, seed = NULL) {
  names <- shorter(c(deparse1(substitute(x)), deparse1(substitute(y))))
  if (missing(y)) fail("y is missing, expected the second sample")
  distance_of(x, y, names, method, list(...), x_weights, y_weights, seed)
}

kqd_distance.formula <- function(formula, data, method = "ekqd", ..., seed = NULL) {
  pair <- split_by_formula(formula, data)
  distance_of(pair$x, pair$y, formula_names(formula, pair$levels), method, list(...), NULL, NULL, seed)
}

kqd_distance.kqd_embedding <- function(x, y, power = 1, method = "ekqd", ...) {
  if (...length() > 0) fail("the distance of embeddings has no further arguments")
  if (!inherits(y, "kqd_embedding")) y <- predict(x, y)
  if (!is.character(method) || length(method) != 1 || is.na(method)) fail("method is ", described(method), ", expected a text")
  structure(list(statistic = run(kqd_r_embedding_distance, x$pointer, y$pointer, as.double(one_number(power, "power")),
                                 method),
                 method = method, labels = character(), texts = character(), seed = x$seed), class = "kqd_distance")
}

distance_of <- function(x, y, names, method, arguments, x_weights, y_weights, seed) {
  data <- samples_of(x, y, names, x_weights, y_weights)
  settings <- settings_of("distance", arguments, seed, method)
  structure(run(kqd_r_distance, data, settings$given, settings$parameters), class = "kqd_distance")
}

as.double.kqd_distance <- function(x, ...) x$statistic

print.kqd_distance <- function(x, ...) {
  if (length(x$labels)) print_report(x, paste0("Distance by ", x$method))
  else cat("Distance by ", x$method, ": ", format(x$statistic), "\n", sep = "")
  invisible(x)
}
