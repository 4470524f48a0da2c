// In place of libFuzzer where it is not there: runs the target once for each file of the folders and files named.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void replay(const std::filesystem::path& file) {
    std::printf("%s\n", file.c_str());  // the last one named is the one that failed
    std::fflush(stdout);
    std::ifstream stream(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    const std::unique_ptr<std::uint8_t[]> exact(new std::uint8_t[bytes.size()]);  // so that a byte too far is seen
    std::memcpy(exact.get(), bytes.data(), bytes.size());
    LLVMFuzzerTestOneInput(exact.get(), bytes.size());
}

}  // namespace

int main(int count, char** arguments) {
    namespace fs = std::filesystem;
    int files = 0;
    for (int i = 1; i < count; ++i) {
        if (!fs::is_directory(arguments[i])) {
            replay(arguments[i]);
            ++files;
            continue;
        }
        for (const fs::directory_entry& entry : fs::directory_iterator(arguments[i])) {
            replay(entry.path());
            ++files;
        }
    }
    std::printf("%d inputs\n", files);
    return files > 0 ? 0 : 1;
}
