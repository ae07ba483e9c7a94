package mask

import "strings"

// passwordFlag is the flag of a password after a command on the same line.
type passwordFlag struct {
	command  string // with the space after it
	flag     string
	attached bool // the password follows the flag without a space
}

// passwordFlags are commands whose flag for a password is one letter. At longer flags, the name of the flag marks the password.
var passwordFlags = []passwordFlag{
	{"docker login ", "-p", false},
	{"podman login ", "-p", false},
	{"mysql ", "-p", true},
	{"mysqldump ", "-p", true},
	{"mysqladmin ", "-p", true},
	{"mariadb ", "-p", true},
	{"mongosh ", "-p", false},
	{"redis-cli ", "-a", false},
	{"ldapsearch ", "-w", false},
	{"ldapadd ", "-w", false},
	{"ldapmodify ", "-w", false},
	{"sqlcmd ", "-P", false},
}

// piped are commands that read a password from the command before them.
var piped = []string{"| sudo -s", "| chpasswd", "| sudo chpasswd", "--password-stdin"}

// commandFinders returns the finders of passwords in command lines, by keyword.
func commandFinders() map[string]func(*scanner, int) {
	all := make(map[string]func(*scanner, int))
	for _, f := range passwordFlags {
		all[f.command] = f.find
	}
	for _, command := range piped {
		all[command] = (*scanner).echoed
	}
	for _, words := range []string{"identified by ", "convertto-securestring "} {
		all[words] = func(sc *scanner, p int) { sc.argument(p+len(words), false) }
	}
	for _, words := range []string{"sshpass -p", "-passin pass:", "-passout pass:", " /pass:"} {
		all[words] = func(sc *scanner, p int) { sc.argument(sc.afterBlanks(p+len(words)), true) }
	}
	all["setx "] = (*scanner).setx
	return all
}

// lineAround returns the part of the line around p that belongs to the same commands, at most longValue bytes to each side.
func (sc *scanner) lineAround(p int) (start, end int) {
	start, end = max(0, p-longValue), min(len(sc.s), p+longValue)
	for _, divider := range []string{"\n", "; ", "&& "} {
		if k := strings.LastIndex(sc.s[start:p], divider); k >= 0 {
			start += k + len(divider)
		}
	}
	if k := strings.IndexAny(sc.s[p:end], "\n;|"); k >= 0 {
		end = p + k
	}
	return start, end
}

// find masks the password after the flag.
func (f passwordFlag) find(sc *scanner, p int) {
	if !sc.startsWord(p) {
		return
	}
	_, end := sc.lineAround(p + len(f.command))
	flag := " " + f.flag
	for i := p + len(f.command) - 1; i < end; i += len(flag) {
		k := strings.Index(sc.s[i:end], flag)
		if k < 0 {
			return
		}
		i += k
		next := sc.byteAt(i + len(flag))
		if f.attached && next > ' ' || !f.attached && next == ' ' {
			sc.argument(sc.afterBlanks(i+len(flag)), true)
			return
		}
	}
}

// argument masks the argument at i. Without quotes it must be one that may be bare.
func (sc *scanner) argument(i int, bare bool) {
	end, _ := sc.run(i, setting)
	if c := sc.byteAt(i); c == '"' || c == '\'' {
		i++
		end = sc.closing(i, c)
	} else if !bare {
		return
	}
	if text := sc.s[i:end]; len(text) >= 4 && text[0] != '-' && text[0] != '$' && text[0] != '(' && !isReference(text) {
		sc.mask(i, end)
	}
}

// setx masks the value that the command setx of Windows gives to a variable with a secret name.
func (sc *scanner) setx(p int) {
	name := p + len("setx ")
	end, _ := sc.run(name, named)
	if value := sc.afterBlanks(end); sc.startsWord(p) && value > end && end-name <= longestName && kindOf(sc.s[name:end]) != noSecret {
		sc.argument(value, true)
	}
}

// echoed masks what echo or printf writes to the command at p: a password, or user:password.
func (sc *scanner) echoed(p int) {
	start, _ := sc.lineAround(p)
	at := strings.LastIndex(sc.s[start:p], "echo ")
	length := len("echo ")
	if at < 0 {
		at, length = strings.LastIndex(sc.s[start:p], "printf "), len("printf ")
	}
	if at < 0 {
		return
	}
	i := sc.afterBlanks(start + at + length)
	if sc.has(i, "-n ") || sc.has(i, "-e ") {
		i = sc.afterBlanks(i + len("-n "))
	}
	end, _ := sc.run(i, setting)
	if c := sc.byteAt(i); c == '"' || c == '\'' {
		i++
		end = sc.closing(i, c)
	}
	if end > p {
		return
	}
	if colon := strings.IndexByte(sc.s[i:end], ':'); colon > 0 && sc.hasFold(p, "| ") {
		i += colon + 1
	}
	if text := sc.s[i:end]; len(text) >= 4 && text[0] != '$' && !isReference(text) {
		sc.mask(i, end)
	}
}
