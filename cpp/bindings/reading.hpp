// Reading a model while another thread may learn: every call sees one moment of it.
#pragma once

#include <nanobind/nanobind.h>

#include <shared_mutex>
#include <utility>

#include "recalltree/base/model_lock.hpp"
#include "recalltree/model/predictor.hpp"

namespace recalltree::bindings {

// Takes the lock. Waits without the GIL, which the thread that has the lock may need.
template <class Lock>
void take(Lock& lock) {
  if (lock.try_lock()) return;
  nanobind::gil_scoped_release release;
  lock.lock();
}

// Calls read(model, arguments ...) under the lock of the model.
template <class Model, class Result, class... Arguments>
auto reading(Result (*read)(const Model&, Arguments...)) {
  return [read](const Model& model, Arguments... arguments) -> Result {
    std::shared_lock lock(model.lock(), std::defer_lock);
    take(lock);
    return read(model, std::forward<Arguments>(arguments)...);
  };
}

// The context managers of model.reading() and model.learning(). Several calls within the first see
// the same moment of the model; what happens within the second, others see when it has ended.
struct Moment {
  nanobind::object owner;
  ModelLock* lock;
  bool alone;
};

void bind_moment(nanobind::module_& m);

template <class Model>
void bind_lock(nanobind::class_<Model>& c) {
  const auto moment = [](bool alone) {
    return [alone](nanobind::object self) {
      return Moment{self, &nanobind::cast<const Model&>(self).lock(), alone};
    };
  };
  c.def("reading", moment(false));
  c.def("learning", moment(true));
}

}  // namespace recalltree::bindings
