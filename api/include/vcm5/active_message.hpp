// Active messages: the first word of a message names the handler that runs on arrival, the other
// words are its arguments. Here is how a handler's parameter types become words and back.
//
// Handlers are registered in the same order on every node, so that an id means the same everywhere:
//
//     auto answer = node.AddHandler([&](uint32_t slot, double value) { results[slot] = value; });
//     auto fetch = node.AddHandler([&](uint32_t from, uint32_t slot, uint32_t index) {
//       node.Reply(from, answer, slot, table[index]);
//     });
//     node.Request(owner, fetch, node.self(), slot, index);
//
// Parameters are trivially copyable values; the last may be std::span<const uint32_t>, which takes
// the words that are left. All arguments together fill at most words_max - 1 words: 4 on a CM-5,
// 17 on a CM-5E.
#ifndef VCM5_ACTIVE_MESSAGE_HPP_
#define VCM5_ACTIVE_MESSAGE_HPP_

#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "vcm5/message.hpp"

namespace vcm5 {

using WordSpan = std::span<const uint32_t>;

// A registered handler whose parameters are Args. A small value: copy it.
template <typename... Args>
struct Handler {
  uint32_t id;
};

namespace active_message_internal {

template <typename T>
inline constexpr bool kIsArgument = std::is_same_v<T, WordSpan> || Payload<T>;

template <typename T>
inline constexpr uint32_t kArgumentWords = kWordsOf<T>;
template <>
inline constexpr uint32_t kArgumentWords<WordSpan> = 0;  // what is left, perhaps nothing

// Takes a T off the front of `rest`; words that are missing read as 0.
template <typename T>
T Take(WordSpan& rest) {
  if constexpr (std::is_same_v<T, WordSpan>) {
    return std::exchange(rest, WordSpan{});
  } else {
    const size_t words = std::min<size_t>(kWordsOf<T>, rest.size());
    const MessageView view{Half::kLeft, 0, rest.first(words)};
    rest = rest.subspan(words);
    return view.As<T>();
  }
}

// What is known of a callable: the handle for its parameters, and itself as one that takes words.
template <typename Signature>
struct Callable;

template <typename R, typename... Params>
struct Callable<R(Params...)> {
  static_assert((kIsArgument<std::decay_t<Params>> && ...),
                "a handler's parameters are trivially copyable values, or a last WordSpan");
  static_assert(1 + (kArgumentWords<std::decay_t<Params>> + ... + 0) <= VCM5_WORDS_MAX,
                "a handler's parameters do not fit into a message");
  using HandlerType = Handler<std::decay_t<Params>...>;

  template <typename F>
  static std::function<void(WordSpan)> Wrap(F&& function) {
    return [f = std::forward<F>(function)]([[maybe_unused]] WordSpan words) mutable {
      // Braces: arguments are taken from left to right.
      std::tuple<std::decay_t<Params>...> arguments{Take<std::decay_t<Params>>(words)...};
      std::apply(f, std::move(arguments));
    };
  }
};

template <typename M>
struct MemberSignature;
template <typename C, typename R, typename... P>
struct MemberSignature<R (C::*)(P...)> {
  using Type = R(P...);
};
template <typename C, typename R, typename... P>
struct MemberSignature<R (C::*)(P...) const> {
  using Type = R(P...);
};
template <typename C, typename R, typename... P>
struct MemberSignature<R (C::*)(P...) noexcept> {
  using Type = R(P...);
};
template <typename C, typename R, typename... P>
struct MemberSignature<R (C::*)(P...) const noexcept> {
  using Type = R(P...);
};

template <typename F>
struct SignatureOf {
  using Type = typename MemberSignature<decltype(&F::operator())>::Type;
};
template <typename R, typename... P>
struct SignatureOf<R (*)(P...)> {
  using Type = R(P...);
};

template <typename F>
using CallableOf = Callable<typename SignatureOf<std::decay_t<F>>::Type>;

}  // namespace active_message_internal
}  // namespace vcm5

#endif  // VCM5_ACTIVE_MESSAGE_HPP_
