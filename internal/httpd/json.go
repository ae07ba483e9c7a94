package httpd

import (
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	jsonv2 "github.com/go-json-experiment/json"

	"github.com/unloop-ai/unloop/internal/api"
)

// format is how huma writes answers and reads bodies other than events.
var format = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		text, err := jsonv2.Marshal(v, api.JSON) // as a whole, so that its memory can be counted
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	},
	Unmarshal: func(data []byte, v any) error { return jsonv2.Unmarshal(data, v, api.JSON) },
}

func writeJSON(w http.ResponseWriter, status int, v any) { writeText(w, status, api.Encode(v)) }

// writeText sends encoded JSON.
func writeText(w http.ResponseWriter, status int, text []byte) {
	h := w.Header()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	_, _ = w.Write(text) // an error means that the client has disconnected
}
