test_that("the result is an htest that prints like base R", {
  found <- kqd_test(bits_x, bits_y, seed = 0, n_resamples = 99)
  expect_s3_class(found, "htest")
  expect_equal(found$data.name, "bits_x and bits_y")
  printed <- capture.output(print(found))
  expect_true(any(grepl("Two-sample test by method adaptive", printed)))
  expect_true(any(grepl("p-value", printed)) && any(grepl("alternative hypothesis: the distributions differ", printed)))
  expect_output(summary(found), "component")
  expect_equal(length(kqd_test(bits_x, bits_y, seed = 0, n_resamples = 99, null_distribution = TRUE)$result$null_distribution),
               99)
})

test_that("a formula splits a data frame by a group", {
  two <- subset(iris, Species != "setosa")
  direct <- kqd_test(two[1:50, 1:2], two[51:100, 1:2], seed = 1, n_resamples = 99)
  by_cbind <- kqd_test(cbind(Sepal.Length, Sepal.Width) ~ Species, data = two, seed = 1, n_resamples = 99)
  expect_identical(by_cbind$statistic, direct$statistic)
  all <- kqd_test(. ~ Species, data = two, seed = 1, n_resamples = 99)
  expect_identical(all$statistic, kqd_test(two[1:50, 1:4], two[51:100, 1:4], seed = 1, n_resamples = 99)$statistic)
  expect_match(all$data.name, "Species = versicolor")
  expect_match(message_of(kqd_test(Sepal.Length ~ Species, data = iris)), "3 different values, expected 2")
  expect_match(message_of(kqd_test(~Species, data = iris)), "no left side")
})

test_that("columns are matched by name", {
  x <- data.frame(a = c(1, 2, 3, 4), b = c(5, 7, 6, 9))
  y <- data.frame(b = c(6, 8, 7), a = c(2, 4, 3))
  turned <- suppressWarnings(kqd_distance(x, y, seed = 0))
  expect_identical(as.numeric(turned), as.numeric(kqd_distance(x, y[, c("a", "b")], seed = 0)))
  expect_match(message_of(kqd_distance(x, data.frame(a = 1, c = 2))), "\"b\"")
})

test_that("factors, text, dates and missing values are treated as the program treats them", {
  x <- data.frame(n = c(1, 2, 3, 4), f = factor(c("a", "b", "a", "a")), d = as.Date("2024-01-01") + 0:3)
  y <- data.frame(n = c(2, 3, 4), f = factor(c("b", "b", "c")), d = as.Date("2024-02-01") + 0:2)
  expect_match(message_of(kqd_distance(x, y, categorical = "raise")), "categorical = \"onehot\"", fixed = TRUE)
  coded <- function(data) {
    cbind(data$n, data$f == "a", data$f == "b", data$f == "c", as.numeric(data$d))
  }
  expect_identical(as.numeric(kqd_distance(x, y, categorical = "onehot", seed = 0)),
                   as.numeric(kqd_distance(coded(x), coded(y), seed = 0)))
  expect_identical(as.numeric(kqd_distance(x, y, categorical = "drop", seed = 0)),
                   as.numeric(kqd_distance(x[c("n", "d")], y[c("n", "d")], seed = 0)))
  expect_identical(as.numeric(kqd_distance(x, y, seed = 0)),
                   as.numeric(kqd_distance(coded(x), coded(y), seed = 0)))
  x$n[2] <- NA
  expect_match(message_of(kqd_distance(x[c("n", "d")], y[c("n", "d")], na = "raise")), "na = \"omit\"", fixed = TRUE)
  expect_warning(omitted <- kqd_distance(x[c("n", "d")], y[c("n", "d")], na = "omit", seed = 0), "1 of 4")
  expect_identical(as.numeric(omitted), as.numeric(kqd_distance(x[-2, c("n", "d")], y[c("n", "d")], seed = 0)))
  times <- data.frame(t = as.POSIXct("2024-01-01", tz = "UTC") + 86400 * (0:3), flag = c(TRUE, FALSE, TRUE, TRUE))
  days <- cbind(19723 + 0:3, c(1, 0, 1, 1))
  expect_identical(as.numeric(kqd_distance(times, times[1:2, ], seed = 0)),
                   as.numeric(kqd_distance(days, days[1:2, ], seed = 0)))
})

test_that("weights, pairs, blocks and clusters stay with their rows", {
  weights <- seq_len(60)
  holed <- bits_x
  holed[3, 1] <- NA
  found <- suppressWarnings(kqd_distance(holed, bits_y, na = "omit", x_weights = weights, y_weights = rep(1, 50), seed = 0))
  expect_identical(as.numeric(found),
                   as.numeric(kqd_distance(bits_x[-3, ], bits_y, x_weights = weights[-3], y_weights = rep(1, 50), seed = 0)))
  paired <- kqd_test(bits_x[1:50, ], bits_y, paired = TRUE, seed = 0, n_resamples = 99)
  expect_equal(paired$result$design, "paired")
  blocks <- list(rep(c("a", "b"), 30), rep(c("a", "b"), 25))
  expect_equal(kqd_test(bits_x, bits_y, blocks = blocks, seed = 0, n_resamples = 99)$result$design, "blocks")
  expect_match(message_of(kqd_test(bits_x, bits_y, blocks = list(1, 2))), "a group for each of 60 rows")
})

test_that("explanations have tables and plots", {
  found <- kqd_explain(bits_x, bits_y, seed = 0)
  expect_s3_class(found, "kqd_explanation")
  expect_equal(nrow(summary(found)), 4)
  expect_setequal(found$columns$name, as.character(1:4))
  expect_true(all(found$columns$p.adjusted >= found$columns$p.value & found$columns$p.adjusted <= 1))
  expect_false(is.unsorted(found$columns$p.adjusted))
  expect_output(print(found), "column")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(found))
  expect_silent(plot(found, which = "directions", n = 1))
})

test_that("embeddings share directions", {
  base <- kqd_embedding(bits_x, n_directions = 8, seed = 1)
  other <- predict(base, bits_y)
  expect_equal(as.numeric(kqd_distance(base, base)), 0)
  expect_gt(as.numeric(kqd_distance(base, other)), 0)
  expect_equal(dim(quantile(base, c(0.1, 0.5))), c(8, 2))
  expect_match(message_of(kqd_distance(base, kqd_embedding(bits_y, seed = 1))), "directions of their own")
  expect_output(print(base), "60 rows x 4 columns along 8 directions")
})

test_that("the direction of the largest gap is explained", {
  found <- kqd_explain(bits_x, bits_y, maximiser = "max-sw", seed = 1, n_resamples = 99)
  expect_equal(nrow(found$maximiser), 1)
  expect_true(is.nan(found$maximiser$p.value))
  expect_equal(found$maximiser$statistic, as.numeric(kqd_distance(bits_x, bits_y, method = "max-sw", seed = 1)), tolerance = 1e-9)
  expect_equal(nrow(kqd_explain(bits_x, bits_y, seed = 1, n_resamples = 99)$maximiser), 0)
})

test_that("tables list methods and options", {
  expect_true(all(c("ekqd", "mmd", "energy", "adaptive") %in% kqd_methods()$id))
  expect_equal(nrow(kqd_methods("mmd")), 1)
  expect_true(all(c("n_resamples", "seed", "threads", "categorical") %in% kqd_options("test")$name))
  expect_match(message_of(kqd_methods("mdm")), "did you mean mmd")
})
