package sqlstore

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/unloop-ai/unloop/internal/store"
)

// maxPage is the maximum number of entries of a page.
const maxPage = 1000

// maxPageBytes is the maximum size of a page of events. A single larger event is a page.
const maxPageBytes = 8 << 20

// limit returns the maximum number of entries of a page.
func limit(wanted int) int { return min(max(wanted, 1), maxPage) }

// cursor returns the cursor after an entry with these keys in a list of the kind.
func cursor(kind string, keys ...int64) string {
	for _, key := range keys {
		kind += "." + strconv.FormatInt(key, 36)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(kind))
}

// parse reads a cursor with the given number of keys.
func parse(text, kind string, keys int) (place []any, err error) {
	plain, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, store.ErrCursor
	}
	parts := strings.Split(string(plain), ".")
	if parts[0] != kind || len(parts) != 1+keys {
		return nil, store.ErrCursor
	}
	for _, part := range parts[1:] {
		key, err := strconv.ParseInt(part, 36, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: a key is not a number", store.ErrCursor)
		}
		place = append(place, key)
	}
	return place, nil
}

// sortedCursor returns the place behind a run with this key in a sorted list.
func sortedCursor(kind string, key any, number int64) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s.%d.%v", kind, number, key))
}

// parseSorted reads the output of sortedCursor.
func parseSorted(text, kind string, parse func(string) (any, error)) (key any, number int64, err error) {
	plain, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, 0, store.ErrCursor
	}
	place, found := strings.CutPrefix(string(plain), kind+".")
	first, rest, separated := strings.Cut(place, ".")
	if !found || !separated {
		return nil, 0, store.ErrCursor
	}
	if number, err = strconv.ParseInt(first, 10, 64); err != nil {
		return nil, 0, fmt.Errorf("%w: a run number is not a number", store.ErrCursor)
	}
	if key, err = parse(rest); err != nil {
		return nil, 0, fmt.Errorf("%w: a key is not a number", store.ErrCursor)
	}
	return key, number, nil
}
