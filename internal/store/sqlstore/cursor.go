package sqlstore

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/unloop-ai/unloop/internal/store"
)

// maxPage bounds what a page holds, whatever was asked for.
const maxPage = 1000

// maxPageBytes bounds what a page of events weighs. One event is on a page whatever it weighs.
const maxPageBytes = 8 << 20

// limit returns how many entries a page may hold.
func limit(asked int) int { return min(max(asked, 1), maxPage) }

// cursor returns the place behind an entry with these keys, of the list that kind stands for.
func cursor(kind string, keys ...int64) string {
	for _, key := range keys {
		kind += "." + strconv.FormatInt(key, 36)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(kind))
}

// parse reads a cursor of so many keys.
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
			return nil, fmt.Errorf("%w: a key is no number", store.ErrCursor)
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
		return nil, 0, fmt.Errorf("%w: the number of a run is none", store.ErrCursor)
	}
	if key, err = parse(rest); err != nil {
		return nil, 0, fmt.Errorf("%w: a key is no number", store.ErrCursor)
	}
	return key, number, nil
}
