# A hexadecimal number as Python prints it, 0x1.8p+1; R reads it exactly.
expected_bits <- function() {
  text <- Sys.getenv("KQD_BITS")
  skip_if(text == "", "KQD_BITS, the numbers of the Python package, is not set")
  parts <- strsplit(strsplit(text, " ")[[1]], "=")
  stats::setNames(as.numeric(vapply(parts, `[`, "", 2)), vapply(parts, `[`, "", 1))
}

test_that("numbers are those of Python, bit by bit", {
  bits <- expected_bits()
  test <- kqd_test(bits_x, bits_y, seed = 7)
  expect_identical(test$statistic[[1]], bits[["adaptive_statistic"]])
  expect_identical(test$p.value, bits[["adaptive_pvalue"]])
  expect_identical(test$estimate[[1]], bits[["adaptive_effect"]])
  ekqd <- kqd_test(bits_x, bits_y, method = "ekqd", power = 2, seed = 7, n_resamples = 199)
  expect_identical(ekqd$statistic[[1]], bits[["ekqd_statistic"]])
  expect_identical(ekqd$p.value, bits[["ekqd_pvalue"]])
  for (method in c("mmd", "energy")) {
    expect_identical(as.numeric(kqd_distance(bits_x, bits_y, method = method, seed = 7)), bits[[method]])
  }
  expect_identical(as.numeric(kqd_distance(bits_x, bits_y, seed = 7)), bits[["distance"]])
  expect_identical(kqd_explain(bits_x, bits_y, seed = 7)$columns$wasserstein[1], bits[["explain"]])
  expect_identical(quantile(kqd_embedding(bits_x, seed = 7), 0.5)[[1]], bits[["embedding"]])
})

# The definitions in R: rho(x) = q u(x), centered (q - <u, mu>) u(x) + mu(x).
test_that("embeddings are those of their definition", {
  base <- kqd_embedding(bits_x, kernel = "gaussian@1.5", n_directions = 5, seed = 1)
  other <- predict(base, bits_y)
  kernel <- function(a, b) exp(-(outer(rowSums(a^2), rowSums(b^2), "+") - 2 * a %*% t(b)) / (2 * 1.5^2))
  terms <- coef(base)
  u <- function(points) t(kernel(points, terms$reference) %*% terms$coefficients)
  levels <- c(0.1, 0.5)
  q <- quantile(base, levels)
  points <- bits_y[1:7, ]
  expect_lt(max(abs(kqd_evaluate(base, points, levels)[, 2, ] - q[, 2] * u(points))), 1e-12)
  mu <- colMeans(kernel(bits_x, points))
  expect_lt(max(abs(kqd_mean_embedding(base, points) - mu)), 1e-12)
  means <- rowMeans(u(bits_x))
  expect_lt(max(abs(kqd_evaluate(base, points, 0.1, centered = TRUE)[, 1, ] -
                      sweep((q[, 1] - means) * u(points), 2, mu, "+"))), 1e-12)
  products <- t(terms$coefficients) %*% kernel(terms$reference, terms$reference) %*% terms$coefficients
  expected <- outer(q[, 2], quantile(other, 0.5)[, 1]) * products
  expect_lt(max(abs(kqd_inner_product(base, other, levels)[, 2, , 2] - expected)), 1e-12)
  centred <- kqd_inner_product(base, other, 0.5, centered = TRUE)[, 1, , 1]
  a <- q[, 2] - means
  b <- quantile(other, 0.5)[, 1] - rowMeans(u(bits_y))
  of_y <- rowMeans(u(bits_y))  # <u, mu_Y>
  cross <- mean(kernel(bits_x, bits_y))
  expect_lt(max(abs(centred - (outer(a, b) * products + outer(a * of_y, rep(1, 5)) + outer(rep(1, 5), b * means) + cross))), 1e-12)
  gaps <- vapply(1:5, function(i) {
    level <- (seq_len(3e4) - 0.5) / 3e4
    mean(abs(quantile(base, level)[i, ] - quantile(other, level)[i, ]))
  }, 0)
  expect_lt(abs(as.numeric(kqd_distance(base, other)) - mean(gaps)), 1e-3)
  expect_lt(abs(as.numeric(kqd_distance(base, other, method = "supkqd")) - max(gaps)), 1e-3)
})

# Sums of some thousand terms of size 1, in another order: the tolerance is a hundred times their rounding.
test_that("the energy distance is that of package energy", {
  skip_if_not_installed("energy")
  n <- nrow(bits_x)
  m <- nrow(bits_y)
  theirs <- energy::eqdist.e(rbind(bits_x, bits_y), c(n, m)) * (n + m) / (n * m)
  expect_lt(abs(as.numeric(kqd_distance(bits_x, bits_y, method = "energy", seed = 0)) - theirs), 1e-10)
})

test_that("maximum mean discrepancies are those of kernlab and of their formula", {
  h <- 1.5
  kernel <- function(a, b) exp(-outer(rowSums(a^2), rowSums(b^2), "+") / (2 * h^2) + a %*% t(b) / h^2)
  off <- function(k) (sum(k) - sum(diag(k))) / (nrow(k) * (nrow(k) - 1))
  unbiased <- off(kernel(bits_x, bits_x)) + off(kernel(bits_y, bits_y)) - 2 * mean(kernel(bits_x, bits_y))
  expect_lt(abs(as.numeric(kqd_distance(bits_x, bits_y, method = "mmd", bandwidth = h, seed = 0)) - unbiased), 1e-12)
  skip_if_not_installed("kernlab")
  theirs <- kernlab::kmmd(bits_x, bits_y, kernel = "rbfdot", kpar = list(sigma = 1 / (2 * h^2)))
  ours <- as.numeric(kqd_distance(bits_x, bits_y, method = "mmd-v", bandwidth = h, seed = 0))
  expect_lt(abs(ours - kernlab::mmdstats(theirs)[1]), 1e-12)
})

test_that("one dimension and the linear kernel give the Wasserstein distance", {
  # Quantile functions of (0, 1) and (0.5, 2, 3): the integral of the squared difference is 9/4.
  expect_equal(as.numeric(kqd_distance(c(0, 1), c(0.5, 2, 3), kernel = "linear", power = 2, seed = 0)), 1.5)
})

test_that("four against four have p = 2/70", {
  found <- kqd_test(1:4, 5:8, method = "ekqd", kernel = "linear", seed = 0)
  expect_equal(found$p.value, 2 / 70)
  expect_true(found$result$enumerated)
})

test_that("results follow from the seed and from nothing else", {
  set.seed(3)
  a <- kqd_test(bits_x, bits_y, n_resamples = 99)
  set.seed(3)
  b <- kqd_test(bits_x, bits_y, n_resamples = 99, threads = 2)
  c <- kqd_test(bits_x, bits_y, n_resamples = 99, seed = a$result$seed, threads = 1)
  expect_identical(a$statistic, b$statistic)
  expect_identical(a$p.value, c$p.value)
  expect_false(kqd_test(bits_x, bits_y, n_resamples = 99)$result$seed == a$result$seed)
})
