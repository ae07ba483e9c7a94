package hook

import (
	"fmt"
	"os"
	"strings"
)

// Announce announces a server on this machine to hooks, at an address such as http://127.0.0.1:8765. The returned function
// withdraws it. If there are two servers, hooks use the one that was announced last.
func (f Folder) Announce(endpoint string) (withdraw func(), err error) {
	if err := f.make(); err != nil {
		return nil, err
	}
	if err := replace(f.path("server"), []byte(endpoint)); err != nil {
		return nil, fmt.Errorf("announce the server: %w", err)
	}
	return func() {
		if f.running() == endpoint {
			f.withdraw()
		}
	}, nil
}

// running returns the address of the announced server, or "".
func (f Folder) running() string {
	data, err := readRegular(f.path("server"), maxSmall)
	if err != nil || !strings.HasPrefix(string(data), "http://") {
		return ""
	}
	return string(data)
}

func (f Folder) withdraw() { _ = os.Remove(f.path("server")) }
