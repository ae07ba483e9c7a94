package store

import (
	"net/url"
	"strings"
)

// PathOf returns the id of a run as an escaped path segment. The ids ".", ".." and "/" get the suffix ~, because browsers treat
// the first two as path steps even if escaped, and http.ServeMux treats %2F as the end of a path. An id that looks like one
// of these with the suffix gets another ~, so that different ids have different segments.
func PathOf(id string) string {
	if misread(id) {
		id += "~"
	}
	return url.PathEscape(id)
}

// IDOf returns the id for an unescaped segment that PathOf made.
func IDOf(segment string) string {
	if id, ok := strings.CutSuffix(segment, "~"); ok && misread(id) {
		return id
	}
	return segment
}

// misread reports whether an id, without trailing ~, is not usable as a segment.
func misread(id string) bool {
	id = strings.TrimRight(id, "~")
	return id == "." || id == ".." || id == "/"
}
