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
func limit(asked int) int { return min(max(asked, 1), maxPage) }

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
