/// The program graze.
#include "drivers/library/main.hpp"

int main(int argc, char** argv) { return graze::main(argc, argv); }
