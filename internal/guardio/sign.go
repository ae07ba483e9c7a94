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

// keyTime is the time for which a key signs. keptKeys is the number of further such periods in which it is valid.
const (
	keyTime  = 30 * 24 * time.Hour
	keptKeys = 2
)

// Keys returns the secret of a period: at least 32 random bytes, always the same for a period, also after a restart.
type Keys func(period int64) ([]byte, error)

// Signer signs the snapshots of a server and verifies them. Each key signs for 30 days and is valid for 60 more, so a snapshot is
// valid for at least 60 and at most 90 days. It is safe for concurrent use.
type Signer struct {
	keys Keys
	now  func() time.Time

	mu    sync.Mutex
	known map[int64][]byte
}

// NewSigner returns a signer with a clock. It reads the current key, so that a failing store is noticed at once.
func NewSigner(keys Keys, now func() time.Time) (*Signer, error) {
	s := &Signer{keys: keys, now: now, known: make(map[int64][]byte)}
	_, err := s.key(s.period())
	return s, err
}

// OldestPeriod returns the oldest period whose key is valid at a time. Keys before it can be deleted.
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

// Sign returns the MAC of a state: the version of its form, the period of its key, and the HMAC-SHA256 in base64.
func (s *Signer) Sign(state string) (string, error) {
	period := s.period()
	key, err := s.key(period)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("v1.%d.%s", period, base64.RawURLEncoding.EncodeToString(sum(key, period, state))), nil
}

// errForged means that a snapshot has no valid signature.
var errForged = errors.New("its mac is missing, wrong or older than 60 days; want an unchanged snapshot from this server")

// Verify returns an error unless mac is a valid MAC of the state.
func (s *Signer) Verify(state, mac string) error {
	form, rest, _ := strings.Cut(mac, ".")
	number, encoded, _ := strings.Cut(rest, ".")
	period, err := strconv.ParseInt(number, 10, 64)
	signed, badText := base64.RawURLEncoding.Strict().DecodeString(encoded)
	now := s.period()
	if form != "v1" || err != nil || badText != nil || period < now-keptKeys || period > now+1 { // period may be one ahead if a clock was set back
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
