package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/unloop-ai/unloop/internal/sink"
)

// Signature is the header with the time and the signature of a message: t=SECONDS,v1=HEX, where HEX is the HMAC-SHA256 of
// SECONDS, a dot and the body.
const Signature = "X-Unloop-Signature"

// ID is the header with the id of a message, as in Standard Webhooks. A message that is sent again has the id that it had.
const ID = "Webhook-Id"

// post makes one attempt.
func (w *notifier) post(ctx context.Context, id string, body []byte) error {
	header := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"unloop/" + w.options.Version}, ID: {id}}
	if w.endpoint.Secret != "" {
		header.Set(Signature, sign(w.endpoint.Secret, time.Now(), body))
	}
	_, err := sink.Post(ctx, w.client, w.endpoint.URL, header, body, sink.IsFinal)
	if refused, ok := errors.AsType[notPublic](err); ok {
		return &sink.Refusal{Reason: refused.Error(), Final: true}
	}
	return err
}

// sign returns the signature of a body at a time.
func sign(secret string, now time.Time, body []byte) string {
	seconds := strconv.FormatInt(now.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(seconds + "."))
	mac.Write(body)
	return "t=" + seconds + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}
