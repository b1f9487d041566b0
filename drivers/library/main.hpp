/// The whole command line as a function.
#pragma once

namespace graze {

/// What the program `graze` does: runs the command that the arguments name, with all models and analyses that
/// are registered, and returns its exit code (0 done, 1 internal error, 2 wrong usage or case file, 3 no
/// point succeeded, 4 done but some points failed, 75 stopped early). Throws nothing. Call it once, from
/// main():
///
///     int main(int argc, char** argv) { return graze::main(argc, argv); }
int main(int argc, char** argv);

}  // namespace graze
