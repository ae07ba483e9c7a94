package store

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"pgregory.net/rapid"
)

func TestEachIDIsReadBackFromItsPath(t *testing.T) {
	ids := rapid.OneOf(rapid.StringMatching(`[.~%2Ee/]{1,5}`), rapid.StringN(1, 6, -1))
	rapid.Check(t, func(t *rapid.T) {
		id := ids.Draw(t, "id")
		read := ""
		mux := http.NewServeMux()
		mux.HandleFunc("/api/runs/{id}/events", func(_ http.ResponseWriter, r *http.Request) { read = IDOf(r.PathValue("id")) })
		address, err := url.Parse("http://localhost/api/runs/" + PathOf(id) + "/events")
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, address.String(), nil)
		mux.ServeHTTP(httptest.NewRecorder(), r)
		if read != id {
			t.Fatalf("%q is written %q and read as %q", id, address, read)
		}
	})
}
