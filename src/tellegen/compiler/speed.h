/* How much work long functions are to a compiler: less than short ones, and next to none where a run hardly calls them. */
#if defined(__GNUC__) && !defined(__clang__)
#define TG_LONG __attribute__((optimize("O1")))
#define TG_RARE __attribute__((optimize("O0")))
#else
#define TG_LONG
#define TG_RARE
#endif
