kqd_explain <- function(x, ...) UseMethod("kqd_explain")

kqd_explain.default <- function(x, y, ..., paired = FALSE, blocks = NULL, clusters = NULL, x_weights = NULL,
                                y_weights = NULL, seed = NULL) {
  names <- shorter(c(deparse1(substitute(x)), deparse1(substitute(y))))
  if (missing(y)) fail("y is missing, expected the second sample")
  explain_of(samples_of(x, y, names, x_weights, y_weights, paired, blocks, clusters), list(...), seed)
}

kqd_explain.formula <- function(formula, data, ..., seed = NULL) {
  pair <- split_by_formula(formula, data)
  explain_of(samples_of(pair$x, pair$y, formula_names(formula, pair$levels)), list(...), seed)
}

explain_of <- function(data, arguments, seed) {
  settings <- settings_of("explain", arguments, seed)
  found <- run(kqd_r_explain, data, settings$given)
  keep <- function(part) as.data.frame(part[setdiff(names(part), c("profiles", "densities"))])
  profiles <- found$columns$profiles
  names(profiles) <- found$columns$name[seq_along(profiles)]
  structure(
    list(columns = keep(found$columns), directions = keep(found$directions), maximiser = keep(found$maximiser), most_x = as.data.frame(found$most_x),
         most_y = as.data.frame(found$most_y), column_profiles = profiles,
         direction_profiles = found$directions$profiles, densities = found$directions$densities, kernel = found$kernel,
         seed = found$seed, alpha = found$alpha, n_resamples = found$n_resamples, names = data$names,
         text = found$text, warnings = found$warnings),
    class = "kqd_explanation"
  )
}

print.kqd_explanation <- function(x, ...) {
  cat(x$text)
  invisible(x)
}

summary.kqd_explanation <- function(object, ...) object$columns

plot.kqd_explanation <- function(x, which = c("columns", "directions"), n = 4, ...) {
  which <- match.arg(which)
  n <- min(one_number(n, "n", whole = TRUE), nrow(x[[which]]))
  if (n < 1) fail("there is nothing to plot, expected n >= 1 and at least one of the ", which)
  old <- par(mfrow = c(ceiling(n / 2), min(n, 2)), mar = c(4, 4, 2, 1))
  on.exit(par(old))
  for (i in seq_len(n)) {
    title <- paste0(x[[which]]$name[i], if (x[[which]]$reject[i]) " *")
    if (which == "columns") {
      profile <- x$column_profiles[[i]]
      plot(profile$levels, profile$difference, type = "l", xlab = "quantile level", ylab = "y minus x", main = title,
           ...)
      abline(h = 0, lty = 2)
    } else {
      density <- x$densities[[i]]
      matplot(density$at, cbind(density$x, density$y), type = "l", lty = 1, col = 1:2, xlab = "along the direction",
              ylab = "density", main = title, ...)
      legend("topright", c("x", "y"), lty = 1, col = 1:2, bty = "n")
    }
  }
  invisible(x)
}
