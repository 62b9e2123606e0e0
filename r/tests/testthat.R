library(testthat)
library(kqd)

test_check("kqd")
