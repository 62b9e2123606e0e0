#include "entry.hpp"

int main(int argc, char** argv) {
  return kqd::app::run_program(argc, argv);
}
