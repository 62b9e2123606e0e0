# The samples of tools/r_bits.py, exact in binary.
rows <- matrix(0:239, ncol = 4, byrow = TRUE)
bits_x <- (rows * 37) %% 101 / 64
bits_y <- (rows[1:50, ] * 53 + 11) %% 97 / 64 * 1.25

message_of <- function(expression) {
  tryCatch({
    expression
    "no error"
  }, error = conditionMessage)
}
