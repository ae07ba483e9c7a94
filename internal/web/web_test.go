package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

var small = fstest.MapFS{
	"index.html":         {Data: []byte("<!doctype html><title>the page</title>" + strings.Repeat("<p>words</p>", 20))},
	"assets/app-1a2b.js": {Data: []byte(strings.Repeat("export const a = 1;\n", 50))},
	"assets/app-3c.css":  {Data: []byte(strings.Repeat("a { color: red }\n", 50))},
	"assets/icon-4d.svg": {Data: []byte("<svg/>")},
}

// mounted is a handler as a server has it.
func mounted(dist fs.FS) http.Handler {
	mux := http.NewServeMux()
	for _, pattern := range Patterns() {
		mux.Handle(pattern, handlerOf(dist))
	}
	return mux
}

func ask(h http.Handler, method, path, encoding string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	r.Header.Set("Accept-Encoding", encoding)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestEveryPathOfTheDashboardReturnsItsPage(t *testing.T) {
	h := mounted(small)
	for _, at := range []string{"/", "/?status=failed", "/runs/r", "/runs/a%2Fb?event=7", "/runs/assets", "/runs/r/waterfall", "/runs/r/graph", "/runs/r/what-if", "/runs", "/compare?a=1&b=2", "/overview", "/rules", "/audit", "/suggestions", "/shadow", "/alerts"} {
		w := ask(h, http.MethodGet, at, "")
		if w.Code != 200 || w.Body.String() != string(small["index.html"].Data) {
			t.Errorf("%s: %d %s", at, w.Code, w.Body)
		}
		if kind, kept := w.Header().Get("Content-Type"), w.Header().Get("Cache-Control"); kind != "text/html; charset=utf-8" || kept != "no-store" {
			t.Errorf("%s: %s, %s", at, kind, kept)
		}
	}
}

func TestAssetsAreCachedForever(t *testing.T) {
	h := mounted(small)
	for at, kind := range map[string]string{
		"/assets/app-1a2b.js": "text/javascript; charset=utf-8", "/assets/app-3c.css": "text/css; charset=utf-8", "/assets/icon-4d.svg": "image/svg+xml",
	} {
		w := ask(h, http.MethodGet, at, "")
		if w.Code != 200 || w.Body.String() != string(small[at[1:]].Data) {
			t.Errorf("%s: %d %s", at, w.Code, w.Body)
		}
		if got, kept := w.Header().Get("Content-Type"), w.Header().Get("Cache-Control"); got != kind || kept != "public, max-age=31536000, immutable" {
			t.Errorf("%s: %s, %s", at, got, kept)
		}
	}
}

func TestOtherPathsAreNotFound(t *testing.T) {
	h := mounted(small)
	for _, at := range []string{"/index.html", "/runs/", "/runs/a/b", "/assets/", "/assets/app.js", "/assets/%2e%2e/index.html", "/assets/..%2findex.html", "/nowhere", "/api/runs"} {
		if w := ask(h, http.MethodGet, at, ""); w.Code != 404 || strings.Contains(w.Body.String(), "the page") {
			t.Errorf("%s: %d %s", at, w.Code, w.Body)
		}
	}
	if w := ask(h, http.MethodPost, "/", ""); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

func TestAssetsAreCompressedForClientsThatAcceptIt(t *testing.T) {
	h := mounted(small)
	for encoding, want := range map[string]bool{
		"gzip": true, "br, GZIP;q=0.5": true, "gzip ; q=1.0, br": true, "": false, "br": false, "gzip;q=0": false, "gzip;q=x": false, "xgzip": false,
	} {
		w := ask(h, http.MethodGet, "/assets/app-1a2b.js", encoding)
		packed := w.Header().Get("Content-Encoding") == "gzip"
		if packed != want || w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: packed %v, %s", encoding, packed, w.Header())
		}
		var body io.Reader = w.Body
		if packed {
			var err error
			if body, err = gzip.NewReader(w.Body); err != nil {
				t.Fatal(err)
			}
		}
		if text, err := io.ReadAll(body); err != nil || !bytes.Equal(text, small["assets/app-1a2b.js"].Data) {
			t.Errorf("%q: %v %s", encoding, err, text)
		}
	}
	w := ask(h, http.MethodGet, "/assets/icon-4d.svg", "gzip")
	if w.Header().Get("Content-Encoding") != "" || w.Header().Get("Vary") != "" {
		t.Errorf("six bytes were packed: %s", w.Header())
	}
}

func TestADashboardThatIsNotBuiltIsNotFound(t *testing.T) {
	h := mounted(fstest.MapFS{"assets/x.js": {Data: []byte("x")}})
	if w := ask(h, http.MethodGet, "/", ""); w.Code != 404 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestTheDashboardIsComplete holds what is embedded to what the server's policy lets a browser load: everything from the server
// itself, nothing inline, and all of it there.
func TestTheDashboardIsComplete(t *testing.T) {
	h := http.NewServeMux()
	for _, pattern := range Patterns() {
		h.Handle(pattern, Handler())
	}
	page := ask(h, http.MethodGet, "/", "").Body.String()
	if !strings.Contains(page, "<title>unloop") {
		t.Fatalf("the page is %s", page)
	}
	loaded := 0
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		w := ask(h, http.MethodGet, path.Join("/", m[1]), "gzip")
		if w.Code != 200 || !strings.HasPrefix(m[1], "/assets/") {
			t.Errorf("the page loads %s: %d", m[1], w.Code)
		}
		loaded += w.Body.Len()
	}
	if most := 150_000; loaded > most {
		t.Errorf("the page loads %d bytes at first, at most %d are wanted", loaded, most)
	}
	for _, forbidden := range []string{"<style", "style=", "<script>", "onload=", "onclick="} {
		if strings.Contains(page, forbidden) {
			t.Errorf("the page has %s, which the server's policy forbids", forbidden)
		}
	}
}

func TestAnUnknownPageHasTheStatus404(t *testing.T) {
	w := ask(NotFound(), http.MethodGet, "/nowhere", "")
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "<title>unloop") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
