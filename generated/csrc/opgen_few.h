// A vector that needs no heap while it is small: most calls have few arguments, and the heap costs more than they do.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <new>
#include <utility>
#include <vector>

namespace opgen {

// Up to N items stand in place; once there are more, all of them in a vector.
template <typename T, size_t N>
class __attribute__((visibility("hidden"))) Few {
 public:
  Few() = default;
  Few(size_t count, const T& value) {
    while (size_ < count) push_back(value);
  }
  Few(std::initializer_list<T> items) {
    for (const T& item : items) push_back(item);
  }
  Few(const Few& other) {
    for (const T& item : other) push_back(item);
  }
  Few& operator=(const Few&) = delete;
  ~Few() {
    if (size_ <= N) clear();
  }

  void push_back(T item) {
    if (size_ < N) {
      new (here() + size_) T(std::move(item));
    } else {
      if (size_ == N) {
        for (T& moved : *this) more_.push_back(std::move(moved));
        clear();
      }
      more_.push_back(std::move(item));
    }
    ++size_;
  }

  T* data() { return size_ > N ? more_.data() : here(); }
  const T* data() const { return size_ > N ? more_.data() : here(); }
  size_t size() const { return size_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t k) { return data()[k]; }
  const T& operator[](size_t k) const { return data()[k]; }
  T& back() { return data()[size_ - 1]; }

 private:
  T* here() { return std::launder(reinterpret_cast<T*>(room_)); }
  const T* here() const { return std::launder(reinterpret_cast<const T*>(room_)); }
  void clear() {
    for (size_t k = 0; k < size_; ++k) here()[k].~T();
  }

  alignas(T) unsigned char room_[N * sizeof(T)];
  std::vector<T> more_;
  size_t size_ = 0;
};

}  // namespace opgen
