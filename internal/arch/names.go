package arch

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// hollow are names that do not describe the purpose of a package.
var hollow = []string{
	"common", "helper", "helpers", "misc", "model", "models", "type", "types", "util", "utils",
}

// standard are the names of the standard library's packages. The word trace is free: only profilers import runtime/trace, and
// internal/trace is about the traces of agents.
var standard = strings.Fields(`
adler32 aes ascii85 asn1 ast atomic base32 base64 big binary bits bufio build buildinfo bytes bzip2 cgi cgo cipher
cmp cmplx color comment constant constraint context cookiejar coverage crc32 crc64 crypto cryptotest csv debug des
doc draw driver dsa dwarf ecdh ecdsa ed25519 elf elliptic embed encoding errors exec expvar fcgi filepath fips140
flag flate fmt fnv format fs fstest gif gob gosym gzip hash heap hex hkdf hmac hpke html http httptest httptrace
httputil image importer io iotest ioutil iter jpeg json jsonrpc list log lzw macho mail maphash maps math md5 metrics
mime mlkem mlkemtest multipart net netip os palette parse parser path pbkdf2 pe pem pkix plan9obj plugin png pprof
printer quick quotedprintable race rand rc4 reflect regexp ring rpc rsa runtime scanner sha1 sha256 sha3 sha512
signal slices slog slogtest smtp sort sql strconv strings structs subtle suffixarray sync synctest syntax syscall
syslog tabwriter tar template testing textproto time tls token types tzdata unicode unique unsafe url user
utf16 utf8 version weak x509 xml zip zlib`)

// checkNames reports packages with a name that is hollow or that the standard library uses.
func checkNames(t *tree) (broken []string) {
	seen := map[string]bool{}
	for _, s := range t.sources {
		name := s.syntax.Name.Name
		if s.isTest() {
			name = strings.TrimSuffix(name, "_test")
		}
		for _, name := range []string{name, path.Base(s.folder)} {
			what := ""
			switch {
			case slices.Contains(hollow, name):
				what = "does not describe its purpose"
			case slices.Contains(standard, name):
				what = "is also a package of the standard library"
			}
			if what == "" || seen[s.folder] {
				continue
			}
			seen[s.folder] = true
			broken = append(broken, fmt.Sprintf("%s: the name %q %s: name it after its content", s.folder, name, what))
		}
	}
	return broken
}
