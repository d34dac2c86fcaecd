#include "table/json_private.h"

#include <cstdint>
#include <cstring>

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

namespace
{

/* True if the second half of a pair of surrogates stands alone, which RapidJSON lets pass: it is
 * decoded to ED and a byte from A0 on, which are not UTF-8. */
bool has_half_pair(const char *text, size_t length)
{
  for (size_t i = 0; i + 1 < length; i++)
    if (text[i] == '\xed' && static_cast<unsigned char>(text[i + 1]) >= 0xa0) return true;
  return false;
}

/* What RapidJSON calls as it reads. */
struct Handler {
  gpnn_json_listener *listener;
  void *context;
  const char *wrong; /* the sentence about a text that is refused here */

  bool tell(enum gpnn_json_event event, const char *text = "", size_t length = 0)
  {
    return listener(context, event, text, length);
  }

  bool tell_text(enum gpnn_json_event event, const char *text, size_t length)
  {
    if (memchr(text, '\0', length) != nullptr)
      wrong = "A NUL character in string.";
    else if (has_half_pair(text, length))
      wrong = rapidjson::GetParseError_En(rapidjson::kParseErrorStringUnicodeSurrogateInvalid);
    return wrong == nullptr && tell(event, text, length);
  }

  bool Null()
  {
    return tell(GPNN_JSON_NULL);
  }
  bool Bool(bool value)
  {
    return tell(GPNN_JSON_NUMBER, value ? "1" : "0", 1);
  }
  bool RawNumber(const char *text, size_t length, bool)
  {
    bool is_nan = text[*text == '-'] == 'N';
    return is_nan ? Null() : tell(GPNN_JSON_NUMBER, text, length);
  }
  bool String(const char *text, size_t length, bool)
  {
    return tell_text(GPNN_JSON_TEXT, text, length);
  }
  bool Key(const char *text, size_t length, bool)
  {
    return tell_text(GPNN_JSON_NAME, text, length);
  }
  bool StartObject()
  {
    return tell(GPNN_JSON_OBJECT);
  }
  bool EndObject(size_t)
  {
    return tell(GPNN_JSON_END);
  }
  bool StartArray()
  {
    return tell(GPNN_JSON_ARRAY);
  }
  bool EndArray(size_t)
  {
    return true;
  }

  /* Never called, as numbers are texts. */
  bool Int(int)
  {
    return false;
  }
  bool Uint(unsigned)
  {
    return false;
  }
  bool Int64(int64_t)
  {
    return false;
  }
  bool Uint64(uint64_t)
  {
    return false;
  }
  bool Double(double)
  {
    return false;
  }
};

} // namespace

const char *gpnn_json_read(char *line, gpnn_json_listener *listener, void *context, size_t *at)
{
  constexpr unsigned flags = rapidjson::kParseInsituFlag | rapidjson::kParseValidateEncodingFlag |
                             rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseNanAndInfFlag;
  Handler handler = {listener, context, nullptr};
  rapidjson::InsituStringStream stream(line);
  rapidjson::Reader reader;
  rapidjson::ParseResult result = reader.Parse<flags>(stream, handler);
  if (!result.IsError()) return nullptr;
  *at = result.Offset();
  if (handler.wrong != nullptr) return handler.wrong;
  if (result.Code() == rapidjson::kParseErrorTermination) return "";
  return rapidjson::GetParseError_En(result.Code());
}
