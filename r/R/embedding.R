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

levels_of <- function(levels) {
  if (!is.numeric(levels) || !length(levels) || anyNA(levels)) fail("levels is ", described(levels), ", expected numbers in 0..1")
  as.double(levels)
}

yes_or_no <- function(value, name) {
  if (!is.logical(value) || length(value) != 1 || is.na(value)) fail(name, " is ", described(value), ", expected TRUE or FALSE")
  value
}

require_embedding <- function(value, name) {
  if (!inherits(value, "kqd_embedding")) fail(name, " is ", described(value), ", expected an embedding of kqd_embedding()")
}

# rho(x) = q u(x), or its centered form: directions x levels x points.
kqd_evaluate <- function(embedding, points, levels = 0.5, centered = FALSE) {
  require_embedding(embedding, "embedding")
  columns <- as_columns(points, "points")
  levels <- levels_of(levels)
  values <- run(kqd_r_embedding_values, embedding$pointer, columns, levels, yes_or_no(centered, "centered"))
  aperm(array(values, c(length(levels), embedding$n_directions, ncol(values))), c(2, 1, 3))
}

# mu(x), the kernel mean embedding.
kqd_mean_embedding <- function(embedding, points) {
  require_embedding(embedding, "embedding")
  as.vector(run(kqd_r_embedding_values, embedding$pointer, as_columns(points, "points"), double(), FALSE))
}

# Inner products of the embeddings of all directions and levels: directions x levels x directions x levels.
kqd_inner_product <- function(embedding, other = embedding, levels = 0.5, centered = FALSE) {
  require_embedding(embedding, "embedding")
  require_embedding(other, "other")
  levels <- levels_of(levels)
  values <- run(kqd_r_embedding_products, embedding$pointer, other$pointer, levels, yes_or_no(centered, "centered"))
  k <- length(levels)
  aperm(array(values, c(k, embedding$n_directions, k, other$n_directions)), c(2, 1, 4, 3))
}

# The reference points z and coefficients c of u = sum_j c_j k(z_j, .).
coef.kqd_embedding <- function(object, ...) run(kqd_r_embedding_terms, object$pointer)

print.kqd_embedding <- function(x, ...) {
  cat("Embedding of ", x$n_points, " rows x ", x$dim, " columns along ", x$n_directions, " directions, kernel ",
      x$kernel, "\n", sep = "")
  invisible(x)
}
