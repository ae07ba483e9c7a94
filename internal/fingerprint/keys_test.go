package fingerprint

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestKeys(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"an id, a cursor in base64 and a number": {`{"id":"82b357d0-5541-43df-ae6b-b19e6b9300c0","cursor":"eyJvIjo1fQ==","n":12345678}`, []string{"82b357d0-5541-43df-ae6b-b19e6b9300c0", "eyJvIjo1fQ", "12345678"}},
		"escaped line ends":                      {`"next\nabcd1234\tefgh5678"`, []string{"abcd1234", "efgh5678"}},
		"words, short ids and dates":             {`{"collection":"documents","ref":"e12","at":"2026-06-27T19:26:45Z","day":"2026-06-27"}`, nil},
		"an address":                             {`https://api.example/list?page_token=a1b2c3d4&limit=50`, []string{"a1b2c3d4"}},
		"the ends of a long text":                {"abcd0001 " + strings.Repeat(".", keyHead) + " abcd0002 " + strings.Repeat(".", keyTail) + " abcd0003", []string{"abcd0001", "abcd0003"}},
		"nothing":                                {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var want []uint32
			for _, key := range c.want {
				want = append(want, uint32(Bytes([]byte(key))))
			}
			if got := slices.Collect(Keys([]byte(c.text))); !slices.Equal(got, want) {
				t.Errorf("Keys(%s) = %v, want %v, those of %q", c.text, got, want, c.want)
			}
		})
	}
	for range Keys([]byte("abcd0001 abcd0002")) {
		break // the iterator must stop
	}
}

// TestKeysOfTextsOfFewCharacters compares the keys with those of a search that reads each byte.
func TestKeysOfTextsOfFewCharacters(t *testing.T) {
	const characters = `\\\-_aZ01 9.é/:`
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 120)
	for range 20_000 {
		for k := range text {
			text[k] = characters[random.IntN(len(characters))]
			if k > 0 && random.IntN(2) == 0 {
				text[k] = "a1-\\"[random.IntN(4)]
			}
		}
		part := text[random.IntN(8) : 112+random.IntN(8)]
		if got, want := slices.Collect(Keys(part)), keysByByte(part); !slices.Equal(got, want) {
			t.Fatalf("Keys(%q) = %v, want %v", part, got, want)
		}
	}
}

func keysByByte(b []byte) (found []uint32) {
	for i := 0; i < len(b); {
		if b[i] == '\\' {
			i += 2
			continue
		}
		from := i
		for i < len(b) && strings.IndexByte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", b[i]) >= 0 {
			i++
		}
		if key := b[from:i]; len(key) >= keyLength && strings.ContainsAny(string(key), "0123456789") && (key[4] != '-' || key[7] != '-') {
			found = append(found, uint32(Bytes(key)))
		}
		i = max(i, from+1)
	}
	return found
}
