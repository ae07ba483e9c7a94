package store

import (
	"net/url"
	"strings"
)

// PathOf returns the id of a run as a segment of a path, escaped. As . and .. are steps in a path, to browsers also where they
// are escaped, and as http.ServeMux takes %2F for the end of a path, they get a ~ behind them; so that no two ids are one
// segment, ids that look like that get another ~.
func PathOf(id string) string {
	if misread(id) {
		id += "~"
	}
	return url.PathEscape(id)
}

// IDOf returns the id of which PathOf made the segment, which is no longer escaped.
func IDOf(segment string) string {
	if id, ok := strings.CutSuffix(segment, "~"); ok && misread(id) {
		return id
	}
	return segment
}

// misread reports whether an id is one that is no plain segment, with any number of ~ behind it.
func misread(id string) bool {
	id = strings.TrimRight(id, "~")
	return id == "." || id == ".." || id == "/"
}
