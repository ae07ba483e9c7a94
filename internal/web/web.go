// Package web is the dashboard as it is built: ui/ builds it into dist/, which is committed, so that whoever builds unloop needs
// nothing but Go. Before it stands the server's gate, which lets anyone have it: it knows nothing by itself, and asks the API,
// which wants a token where tokens are configured.
package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed all:dist
var built embed.FS

// Patterns are those of a http.ServeMux under which the dashboard is found: its pages, which it tells apart itself, and what they
// are made of.
func Patterns() []string {
	return []string{
		"GET /{$}", "GET /runs", "GET /runs/{id}", "GET /runs/{id}/waterfall", "GET /runs/{id}/graph", "GET /runs/{id}/what-if", "GET /compare", "GET /overview", "GET /rules", "GET /audit", "GET /suggestions",
		"GET /assets/{file...}",
	}
}

// index is the page that all pages are.
const index = "index.html"

// Handler answers for the patterns. It compresses each file once, at its first request: all of them take some tens of milliseconds, which
// a server that nobody looks at would spend at each start.
func Handler() http.Handler {
	dist, err := fs.Sub(built, "dist")
	if err != nil {
		panic(fmt.Sprintf("dist is embedded: %v", err))
	}
	return handlerOf(dist)
}

// NotFound answers for pages that do not exist, with the dashboard's own page that says so.
func NotFound() http.Handler {
	text, err := built.ReadFile("dist/" + index)
	if err != nil {
		panic(fmt.Sprintf("dist is embedded: %v", err))
	}
	page := newFile(index, text)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page.serve(w, r, http.StatusNotFound)
	})
}

func handlerOf(dist fs.FS) http.Handler {
	files := make(map[string]*file)
	err := fs.WalkDir(dist, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(dist, name)
		if err != nil {
			return err
		}
		files["/"+name] = newFile(name, text)
		return nil
	})
	if err != nil {
		panic(fmt.Sprintf("what is embedded can be read: %v", err))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Path
		if !strings.HasPrefix(name, "/assets/") {
			name = "/" + index
		}
		f := files[name]
		if f == nil {
			http.NotFound(w, r)
			return
		}
		f.serve(w, r, http.StatusOK)
	})
}

// file is a file of the dashboard.
type file struct {
	kind   string // its media type
	text   []byte
	packed func() []byte // with gzip; nil where that saves nothing
	kept   bool          // it is what its name says, for ever: the name has a hash of it
}

func newFile(name string, text []byte) *file {
	return &file{
		kind: kindOf(name), text: text, kept: strings.HasPrefix(name, "assets/"),
		packed: sync.OnceValue(func() []byte { return packed(text) }),
	}
}

// packed returns a text with gzip, or nil where that saves nothing.
func packed(text []byte) []byte {
	var out bytes.Buffer
	to, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is one of gzip's
	_, _ = to.Write(text)                                    // a buffer takes everything
	_ = to.Close()
	if out.Len() >= len(text)-len(text)/16 {
		return nil
	}
	return out.Bytes()
}

// kindOf returns the media type of a file. That of the machine's own tables may be wrong.
func kindOf(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".json":
		return "application/json"
	}
	return "application/octet-stream"
}

func (f *file) serve(w http.ResponseWriter, r *http.Request, status int) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", "no-store")
	if f.kept {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	text := f.text
	if packed := f.packed(); packed != nil {
		h.Add("Vary", "Accept-Encoding")
		if takesGzip(r.Header.Get("Accept-Encoding")) {
			h.Set("Content-Encoding", "gzip")
			text = packed
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client has gone; there is nobody to tell
}

// takesGzip reports whether an Accept-Encoding names gzip, and not to refuse it.
func takesGzip(accept string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		coding, weight, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			continue
		}
		_, q, weighted := strings.Cut(weight, "=")
		least, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
		return !weighted || err == nil && least > 0
	}
	return false
}
