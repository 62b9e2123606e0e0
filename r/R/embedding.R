kqd_embedding <- function(x, ..., seed = NULL) {
  columns <- as_columns(x, "x")
  settings <- settings_of("embedding", list(...), seed)
  made <- run(kqd_r_embedding, columns, settings$given)
  made$columns <- names(columns)
  made$has_names <- !is.null(names_of(x))
  made$seed <- as.double(settings$given$seed)
  structure(made, class = "kqd_embedding")
}

# Another sample along the same directions.
predict.kqd_embedding <- function(object, newdata, ...) {
  columns <- as_columns(newdata, "newdata")
  if (object$has_names && !is.null(names_of(newdata))) {
    lacking <- setdiff(object$columns, names(columns))
    if (length(lacking)) fail("newdata lacks column \"", lacking[1], "\", which the embedding has")
    columns <- columns[object$columns]
  }
  made <- run(kqd_r_embed, object$pointer, columns)
  made[c("columns", "has_names", "seed")] <- object[c("columns", "has_names", "seed")]
  structure(made, class = "kqd_embedding")
}

quantile.kqd_embedding <- function(x, probs = c(0, 0.25, 0.5, 0.75, 1), ...) {
  if (!is.numeric(probs) || anyNA(probs)) fail("probs is ", described(probs), ", expected numbers in 0..1")
  values <- .Call(kqd_r_quantiles, x$pointer, as.double(probs))
  colnames(values) <- paste0(format(100 * probs, trim = TRUE), "%")
  values
}

print.kqd_embedding <- function(x, ...) {
  cat("Embedding of ", x$n_points, " rows x ", x$dim, " columns along ", x$n_directions, " directions, kernel ",
      x$kernel, "\n", sep = "")
  invisible(x)
}
