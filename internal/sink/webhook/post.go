package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/unloop-ai/unloop/internal/sink"
)

// Signature is the header with the time and the signature of a message: t=SECONDS,v1=HEX, where HEX is the HMAC-SHA256 of
// SECONDS, a dot and the body.
const Signature = "X-Unloop-Signature"

// post makes one attempt.
func (w *notifier) post(ctx context.Context, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.endpoint.URL, bytes.NewReader(body))
	if err != nil {
		return withoutAddress(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "unloop/"+w.options.Version)
	if w.endpoint.Secret != "" {
		request.Header.Set(Signature, sign(w.endpoint.Secret, time.Now(), body))
	}
	answer, err := w.client.Do(request)
	if refused, ok := errors.AsType[notPublic](err); ok {
		return &sink.Refusal{Reason: refused.Error(), Final: true}
	}
	if err != nil {
		return withoutAddress(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, answerBody)) // drained so that the connection can be reused
	if answer.StatusCode/100 == 2 {
		return nil
	}
	return &sink.Refusal{
		Reason: fmt.Sprintf("it answered %d %s", answer.StatusCode, http.StatusText(answer.StatusCode)),
		After:  retryAfter(answer.Header, time.Now()), Final: isFinal(answer.StatusCode),
	}
}

// withoutAddress removes the URL from an error, because it may contain a secret.
func withoutAddress(err error) error {
	if told, ok := errors.AsType[*url.Error](err); ok {
		return told.Err
	}
	return err
}

// isFinal reports whether a status means that the message will never be accepted.
func isFinal(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status < 500
}

// retryAfter returns the duration of a Retry-After header: a number of seconds, or a time.
func retryAfter(h http.Header, now time.Time) time.Duration {
	told := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(told); err == nil {
		return time.Duration(max(0, min(seconds, 1<<30))) * time.Second
	}
	if at, err := http.ParseTime(told); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// sign returns the signature of a body at a time.
func sign(secret string, now time.Time, body []byte) string {
	seconds := strconv.FormatInt(now.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(seconds + "."))
	mac.Write(body)
	return "t=" + seconds + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}
