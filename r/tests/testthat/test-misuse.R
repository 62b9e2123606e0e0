test_that("errors name the value and what is expected", {
  x <- matrix(1:6, 3)
  expect_equal(message_of(kqd_test(x)), "y is missing, expected the second sample")
  expect_match(message_of(kqd_test(x, NULL)), "y is NULL, expected a data frame, a matrix or a vector")
  expect_match(message_of(kqd_test(x, x, n_resamples = "9")), "n_resamples is 9 (character), expected one whole number",
               fixed = TRUE)
  expect_match(message_of(kqd_test(x, x, n_resample = 9)), "argument n_resample is unknown.*n_resamples")
  expect_match(message_of(kqd_test(x, x, method = "mdm")), "mmd")
  expect_match(message_of(kqd_test(x, x, alpha = 2)), "alpha")
  expect_match(message_of(kqd_test(x, x[, 1])), "x has 2 and y 1 columns")
  expect_match(message_of(kqd_test(x, list(1, "a", mean))), "expected a data frame, a matrix or a vector")
  expect_match(message_of(kqd_test(x, x + 1i)), "complex")
  expect_match(message_of(kqd_test(c(1, Inf), c(1, 2))), "inf")
  expect_match(message_of(kqd_test(x, x, seed = -1)), "seed is -1")
  expect_match(message_of(kqd_test(x, x, weighting = "levels.csv")), "weighting = \"levels.csv\"", fixed = TRUE)
  expect_match(message_of(kqd_test(x, x, reference = "points.csv")), "reference = \"points.csv\"", fixed = TRUE)
  expect_match(message_of(kqd_test(x, x, kernel = "precomputed")), "expected a kernel of rows of numbers")
})

# A thousand calls with random arguments: each returns a result or stops with a sentence, and R lives on.
test_that("nothing that is passed ends the session", {
  set.seed(25)
  pick <- function(values) values[[sample.int(length(values), 1)]]
  samples <- list(
    NULL, NA, TRUE, 1L, 3.5, "a", letters, 1:5, c(1, NA, 3), c(NaN, Inf, -Inf), numeric(0), character(0), factor(c("u", "v")),
    factor(character(0)), as.Date("2024-01-01") + 0:4, Sys.time(), 1i, raw(3), list(), list(1, 2), list("a", NULL), mean,
    quote(a + b), y ~ x, matrix(0, 0, 3), matrix(0, 3, 0), matrix(1:6, 3), matrix(letters[1:6], 3), array(1:8, c(2, 2, 2)),
    data.frame(), data.frame(a = 1:3), data.frame(a = c("x", "y", NA)), data.frame(a = I(list(1, 2, 3))), iris,
    data.frame(a = 1:3, a = 4:6, check.names = FALSE), new.env(), .Machine$integer.max, 1e308, "\xff", matrix(rnorm(20), 10),
    structure(list(a = 1:3, b = 1:2), class = "data.frame", row.names = 1:3), matrix(list(1, 2), 1), complete.cases
  )
  names <- c("n_resamples", "alpha", "kernel", "bandwidth", "n_directions", "power", "categorical", "na", "standardize",
             "threads", "max_memory", "reference", "coefficients", "columns", "drop", "compat", "weights_as", "early_stop",
             "whiten", "x_weights", "y_weights", "paired", "blocks", "clusters", "seed", "method", "nonsense")
  calls <- list(kqd_test, kqd_distance, kqd_explain, function(x, y, ...) kqd_embedding(x, ...))
  ended <- 0
  for (i in seq_len(1000)) {
    arguments <- list(pick(samples), pick(samples))
    for (name in sample(names, sample(0:2, 1))) arguments[name] <- list(pick(samples))
    message <- tryCatch({
      suppressWarnings(do.call(pick(calls), arguments, quote = TRUE))
      "a result"
    }, error = conditionMessage)
    # R itself finds that a variable of a formula is unknown; the others are sentences of the package.
    expect_match(message, "a result|expected|is unknown|overflow|columns differ|object .* not found")
    ended <- ended + 1
  }
  expect_equal(ended, 1000)
})

test_that("an interrupt ends a long call", {
  skip_on_os("windows")
  # The child interrupts itself after a second; the call would take minutes.
  code <- paste(
    "library(kqd); system(sprintf('(sleep 2; kill -INT %d) &', Sys.getpid()));",
    "x <- matrix(rnorm(2e5), 2000);",
    "r <- tryCatch(kqd_test(x, x + 0.01, method = 'mmd', n_resamples = 1e6, seed = 0), interrupt = function(c) 'stopped');",
    "cat(if (identical(r, 'stopped')) 'stopped' else 'finished')"
  )
  started <- Sys.time()
  out <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", "-e", shQuote(code)), stdout = TRUE, stderr = TRUE,
                 env = paste0("R_LIBS=", paste(.libPaths(), collapse = ":")))
  expect_equal(utils::tail(out, 1), "stopped")
  expect_lt(as.numeric(difftime(Sys.time(), started, units = "secs")), 60)
})
