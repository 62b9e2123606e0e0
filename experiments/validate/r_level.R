# Rscript experiments/validate/r_level.R [TESTS]: level of kqd_test() as R users call it, on samples of equal distributions.
# 99 permutations reach 0.05 exactly. Prints rejections, the rate and five standard errors.
library(kqd)
tests <- as.integer(c(commandArgs(TRUE), 10000)[1])
set.seed(25)
rejected <- 0
for (i in seq_len(tests)) {
  x <- data.frame(a = rnorm(15), b = rexp(15))
  y <- data.frame(a = rnorm(12), b = rexp(12))
  rejected <- rejected + (kqd_test(x, y, n_resamples = 99, threads = 1)$p.value <= 0.05)
}
cat(sprintf("%d of %d tests reject: %.4f, expected 0.05 within %.4f\n", rejected, tests, rejected / tests,
            5 * sqrt(0.05 * 0.95 / tests)))
