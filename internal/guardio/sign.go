package guardio

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// keyTime is for how long a key signs, and keptKeys for how many such periods it counts after that.
const (
	keyTime  = 30 * 24 * time.Hour
	keptKeys = 2
)

// Keys returns the secret of a period: at least 32 random bytes, the same whenever it is asked for, also by the next process.
type Keys func(period int64) ([]byte, error)

// Signer signs the snapshots that a server gives out, and knows them again: whoever has no key cannot make one up. Each key signs for
// 30 days and is good for 60 more, so a snapshot holds at least 60 days and at most 90. It is safe for concurrent use.
type Signer struct {
	keys Keys
	now  func() time.Time

	mu    sync.Mutex
	known map[int64][]byte
}

// NewSigner returns a signer that reads the clock now. It asks for the key at hand, so that a store without one is noticed at once.
func NewSigner(keys Keys, now func() time.Time) (*Signer, error) {
	s := &Signer{keys: keys, now: now, known: make(map[int64][]byte)}
	_, err := s.key(s.period())
	return s, err
}

// OldestPeriod returns the oldest period whose key still counts at a time. Keys before it can be deleted.
func OldestPeriod(now time.Time) int64 { return periodOf(now) - keptKeys }

func periodOf(at time.Time) int64 { return at.Unix() / int64(keyTime/time.Second) }

func (s *Signer) period() int64 { return periodOf(s.now()) }

func (s *Signer) key(period int64) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if key, ok := s.known[period]; ok {
		return key, nil
	}
	key, err := s.keys(period)
	if err != nil {
		return nil, fmt.Errorf("read the key of snapshots: %w", err)
	}
	for old := range s.known {
		if old < s.period()-keptKeys {
			delete(s.known, old)
		}
	}
	s.known[period] = key
	return key, nil
}

// Sign returns the MAC of a state: the version of its form, the period of its key, and HMAC-SHA256 in base64.
func (s *Signer) Sign(state string) (string, error) {
	period := s.period()
	key, err := s.key(period)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("v1.%d.%s", period, base64.RawURLEncoding.EncodeToString(sum(key, period, state))), nil
}

// errForged says that nobody who has a key signed a snapshot, or that its key no longer counts.
var errForged = errors.New("its mac is missing, wrong or older than 60 days; give a snapshot that this server gave out, as it was")

// Verify returns an error unless mac is that of the state, and its key still counts.
func (s *Signer) Verify(state, mac string) error {
	form, rest, _ := strings.Cut(mac, ".")
	number, encoded, _ := strings.Cut(rest, ".")
	period, err := strconv.ParseInt(number, 10, 64)
	signed, badText := base64.RawURLEncoding.Strict().DecodeString(encoded)
	now := s.period()
	if form != "v1" || err != nil || badText != nil || period < now-keptKeys || period > now+1 { // a clock may be set back
		return errForged
	}
	key, err := s.key(period)
	if err != nil {
		return err
	}
	if !hmac.Equal(signed, sum(key, period, state)) {
		return errForged
	}
	return nil
}

func sum(key []byte, period int64, state string) []byte {
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "unloop guard snapshot v1 %d\x00", period)
	h.Write([]byte(state))
	return h.Sum(nil)
}
