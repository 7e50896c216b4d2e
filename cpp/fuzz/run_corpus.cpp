// Runs a fuzz target over the files of folders, where there is no libFuzzer.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int n_arguments, char** arguments) {
  std::size_t n_files = 0;
  for (int i = 1; i < n_arguments; ++i)
    for (const auto& entry : std::filesystem::directory_iterator(arguments[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++n_files;
    }
  std::printf("%zu inputs\n", n_files);
  return n_files == 0;  // an empty corpus tests nothing
}
