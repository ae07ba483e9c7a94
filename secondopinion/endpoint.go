package secondopinion

import (
	"io"
	"net/http"
)

// maxAnswer is the maximum number of bytes of an answer that are read, as unpacked. A longer one is no valid answer.
const maxAnswer = 1 << 20

// endpoint sends requests to the model. An endpoint can neither pass a question on to another host, nor fill the memory with its answer.
type endpoint struct{ client http.Client }

func newEndpoint() *endpoint {
	return &endpoint{http.Client{CheckRedirect: func(next *http.Request, before []*http.Request) error {
		if first := before[0].URL; next.URL.Host != first.Host || next.URL.Scheme != first.Scheme || len(before) > 3 {
			return http.ErrUseLastResponse
		}
		return nil
	}}}
}

// Do implements openai.HTTPDoer.
func (e *endpoint) Do(request *http.Request) (*http.Response, error) {
	answer, err := e.client.Do(request)
	if err != nil {
		return nil, err
	}
	answer.Body = beginning{io.LimitReader(answer.Body, maxAnswer), answer.Body}
	return answer, nil
}

// beginning reads the beginning of a body and closes the body.
type beginning struct {
	io.Reader
	io.Closer
}
