package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Bounds of an answer.
const (
	answerHeader = 64 << 10
	answerBody   = 64 << 10 // after a longer answer the connection is not reused
	redirects    = 3
)

// Dialer opens a connection.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// NewClient returns a client for a target, with a timeout for one attempt. It follows redirects only on the same host. A direct client
// uses no proxy, which would connect to addresses that the dialer refuses.
func NewClient(timeout time.Duration, dial Dialer, direct bool) *http.Client {
	proxy := http.ProxyFromEnvironment
	if direct {
		proxy = nil
	}
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			Proxy: proxy, DialContext: dial, ForceAttemptHTTP2: true,
			MaxIdleConns: 1, IdleConnTimeout: timeout, TLSHandshakeTimeout: timeout, MaxResponseHeaderBytes: answerHeader,
		},
		CheckRedirect: func(next *http.Request, before []*http.Request) error {
			first := before[0].URL
			if next.Method != http.MethodPost || next.URL.Host != first.Host || next.URL.Scheme != first.Scheme || len(before) > redirects {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
}

// Post makes one attempt and returns the first 64 KiB of the answer. If the status is not 2xx, the error is a *Refusal, and isFinal
// reports whether another attempt would get the status, too. Errors do not contain the address, which may be a secret.
func Post(ctx context.Context, client *http.Client, address string, header http.Header, body []byte, isFinal func(status int) bool) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, withoutAddress(err)
	}
	request.Header = header
	answer, err := client.Do(request)
	if err != nil {
		return nil, withoutAddress(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, answerBody)) // read so that the connection can be reused
	if answer.StatusCode/100 == 2 {
		return text, nil
	}
	return nil, &Refusal{
		Reason: fmt.Sprintf("it answered %d %s", answer.StatusCode, http.StatusText(answer.StatusCode)),
		After:  retryAfter(answer.Header, time.Now()), Final: isFinal(answer.StatusCode),
	}
}

// IsFinal reports whether a status means that the target will never accept the notice.
func IsFinal(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status < 500
}

// withoutAddress removes the URL from an error.
func withoutAddress(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return err
}

// retryAfter returns the duration of a Retry-After header: a number of seconds, or a time.
func retryAfter(h http.Header, now time.Time) time.Duration {
	after := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(after); err == nil {
		return time.Duration(max(0, min(seconds, 1<<30))) * time.Second
	}
	if at, err := http.ParseTime(after); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
