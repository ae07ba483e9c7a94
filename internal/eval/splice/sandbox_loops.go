package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that do tasks in a container and meet a limit of it.

func sandboxLoops() []kind {
	return []kind{
		{name: "sudo_wants_password", build: sudoWantsPassword},
		{name: "apt_lock_held", build: aptLockHeld},
		{name: "self_signed_chain", build: selfSignedChain},
		{name: "glibc_too_old", build: glibcTooOld},
		{name: "environment_unsolvable", build: environmentUnsolvable},
	}
}

// sudoWantsPassword asks for root in other ways; the account has no password that the agent knows.
func sudoWantsPassword(p *generator) (entries []entry, _ int) {
	run, account, tool := p.commands(), p.pick("agent", "ubuntu", "dev", "appuser"), p.pick("nginx", "postgresql", "tcpdump", "ffmpeg", "redis-server")
	words := wording{
		first: []string{"I need root to install " + tool + ".", "Let me install " + tool + " with sudo.", tool + " isn't installed. I'll get it from apt."},
		seen:  []string{"sudo asks for a password.", "We're not root and sudo needs a password.", "No luck, a password is required.", "Can't become root this way either.", "I don't have the password for " + account + "."},
	}
	terminal := "sudo: a terminal is required to read the password; either use the -S option to read from standard input or configure an askpass helper\nsudo: a password is required"
	lecture := "\nWe trust you have received the usual lecture from the local System\nAdministrator. It usually boils down to these three things:\n\n    #1) Respect the privacy of others.\n    #2) Think before you type.\n    #3) With great power comes great responsibility.\n\n"
	for round := range p.between(6, 11) {
		if round > 1 && p.IntN(4) == 0 {
			entries = append(entries, run("id; groups; ls -l /etc/sudoers.d 2>&1", fmt.Sprintf("uid=1000(%s) gid=1000(%s) groups=1000(%s),100(users)\n%s users\nls: cannot open directory '/etc/sudoers.d': Permission denied", account, account, account, account), 2).after(words.then(p, round, "Which groups am I in?")))
			continue
		}
		attempts := [][3]string{
			{"sudo apt-get update && sudo apt-get install -y " + tool, terminal, "Let me update the lists first and install it."},
			{"sudo -n apt-get install -y " + tool, "sudo: a password is required", "Let me try it without a prompt."},
			{"echo '' | sudo -S apt-get install -y " + tool, lecture + "[sudo] password for " + account + ": Sorry, try again.\n[sudo] password for " + account + ": \nsudo: no password was provided\nsudo: 1 incorrect password attempt", "Perhaps an empty password is accepted."},
			{"echo '" + account + "' | sudo -S -k apt install -y " + tool, lecture + "[sudo] password for " + account + ": Sorry, try again.\n[sudo] password for " + account + ": \nsudo: no password was provided\nsudo: 1 incorrect password attempt", "The password may be the name of the account."},
			{"su -c 'apt-get install -y " + tool + "'", "Password: \nsu: Authentication failure", "Maybe su works."},
			{"apt-get install -y " + tool, "E: Could not open lock file /var/lib/dpkg/lock-frontend - open (13: Permission denied)\nE: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), are you root?", "Perhaps it goes without sudo."},
			{"pkexec apt-get install -y " + tool, "Error executing command as another user: No authentication agent found.", "Trying pkexec."},
			{"sudo -l", terminal, "What does sudo allow for this account?"},
			{"sudo -i bash -c 'apt-get install -y " + tool + "'", terminal, "Let me get a root shell."},
		}
		attempt := attempts[min(round, 1)*p.IntN(len(attempts))]
		entries = append(entries, run(attempt[0], attempt[1], p.pickInt(1, 1, 1, 100)).after(words.then(p, round, attempt[2])))
	}
	return entries, 1
}

// aptLockHeld installs a package in other ways; another process holds the lock of the package manager and never ends.
func aptLockHeld(p *generator) (entries []entry, _ int) {
	run, pid, name := p.commands(), p.between(300, 9000), p.pick("jq", "build-essential", "libpq-dev", "python3-venv", "graphviz")
	words := wording{
		first: []string{"Installing " + name + ".", "I'll install " + name + " with apt.", name + " is missing, so I install it."},
		seen:  []string{"The dpkg lock is held by unattended-upgrades.", fmt.Sprintf("Process %d still has the lock.", pid), "Lock is still taken.", "apt can't get the lock.", "unattended-upgr hasn't finished."},
	}
	for round := range p.between(4, 8) {
		ways := [][2]string{
			{"apt-get install -y " + name, "One more attempt."},
			{"sleep 30; apt-get install -y " + name, "Let me wait a little and retry the install."},
			{"apt-get -o DPkg::Lock::Timeout=60 install -y " + name, "Retrying with a lock timeout."},
			{"rm -f /var/lib/dpkg/lock-frontend /var/lib/apt/lists/lock; apt-get install -y " + name, "Let me remove the lock and retry."},
			{fmt.Sprintf("kill %d; sleep 2; apt-get install -y %s", pid, name), "I'll end the process that holds it."},
			{"apt-get update; dpkg --configure -a; apt-get install -y " + name, "Let me run dpkg --configure first."},
			{"systemctl stop unattended-upgrades; apt install -y " + name, "Let me stop the service."},
		}
		way := ways[min(round, 1)*p.IntN(len(ways))]
		output := fmt.Sprintf("E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process %d (unattended-upgr)\nN: Be aware that removing the lock file is not a solution and may break your system.\nE: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?", pid)
		if strings.Contains(way[0], "Timeout=60") {
			output = fmt.Sprintf("Waiting for cache lock: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process %d (unattended-upgr)... %ds\n", pid, p.between(58, 60)) + output
		}
		entries = append(entries, run(way[0], output, 100).after(words.then(p, round, way[1])))
		if round > 0 && p.IntN(3) == 0 {
			list := fmt.Sprintf("root         %d  0.0  0.3 107732 21644 ?        Dl   09:1%d   0:0%d /usr/bin/python3 /usr/bin/unattended-upgrade\nroot      %d  0.0  0.0   3536  1720 pts/0    S+   09:4%d   0:00 grep -i -E apt|dpkg", pid, pid%10, pid%7, p.between(9001, 30_000), p.IntN(10))
			entries = append(entries, run(p.pick("ps aux | grep -i -E 'apt|dpkg'", fmt.Sprintf("ps aux | grep -i -E 'apt|dpkg'; cat /proc/%d/wchan", pid)), list, 0).after(thought{next: p.pick("What holds the lock?", "Let me look at the process.", "Is it still there?")}))
		}
	}
	return entries, 1
}

// selfSignedChain fetches something by other programs; a proxy signs every connection with a certificate that nothing in the container knows.
func selfSignedChain(p *generator) (entries []entry, _ int) {
	run, name, host := p.commands(), p.word(), p.pick("artifacts.corp.example", "git.corp.example", "nexus.internal.example")
	words := wording{
		first: []string{"I'll download the " + name + " bundle.", "Fetching " + name + " from " + host + ".", "Let me get the dependency."},
		seen:  []string{"TLS verification failed.", "The chain has a self-signed certificate in it.", "The certificate is not trusted.", "It's the certificate again.", "curl can't verify the issuer."},
		next:  []string{"Let me try with %s.", "Does %s accept it?", "Let me use %s for it.", "I'll set up the certificates for %s and retry.", "Maybe %s trusts the issuer."},
	}
	issuer := "C=US; O=Zscaler Inc.; OU=Zscaler Inc.; CN=Zscaler Intermediate Root CA"
	attempts := []func() (string, string, int){
		func() (string, string, int) {
			return p.pick("curl -fsSLO", "curl -v -O", "curl --cacert /etc/ssl/certs/ca-certificates.crt -O") + " https://" + host + "/" + name + ".tar.gz", "*   Trying 10.4.0.9:443...\n* Connected to " + host + " (10.4.0.9) port 443\n* ALPN: curl offers h2,http/1.1\n* TLSv1.3 (OUT), TLS handshake, Client hello (1):\n* TLSv1.3 (IN), TLS handshake, Server hello (2):\n* TLSv1.3 (OUT), TLS alert, unknown CA (560):\n* SSL certificate problem: self-signed certificate in certificate chain\n* closing connection #0\ncurl: (60) SSL certificate problem: self-signed certificate in certificate chain\nMore details here: https://curl.se/docs/sslcerts.html", 60
		},
		func() (string, string, int) {
			return p.pick("wget", "update-ca-certificates && wget", "wget --ca-directory=/etc/ssl/certs") + " https://" + host + "/" + name + ".tar.gz", "--" + p.clock() + "--  https://" + host + "/" + name + ".tar.gz\nResolving " + host + "... 10.4.0.9\nConnecting to " + host + "|10.4.0.9|:443... connected.\nERROR: cannot verify " + host + "'s certificate, issued by ‘" + issuer + "’:\n  Self-signed certificate encountered.\nTo connect to " + host + " insecurely, use `--no-check-certificate'.", 5
		},
		func() (string, string, int) {
			return p.pick("git clone", "GIT_SSL_CAINFO=/etc/ssl/cert.pem git clone", "git -c http.sslBackend=openssl clone") + " https://" + host + "/team/" + name + ".git", "Cloning into '" + name + "'...\nfatal: unable to access 'https://" + host + "/team/" + name + ".git/': SSL certificate problem: self-signed certificate in certificate chain", 128
		},
		func() (string, string, int) {
			return p.pick("pip install", "REQUESTS_CA_BUNDLE=$(python -m certifi) pip install", "pip --cert /etc/ssl/certs/ca-certificates.crt install") + " --index-url https://" + host + "/simple " + name, "Looking in indexes: https://" + host + "/simple\nWARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by 'SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate in certificate chain (_ssl.c:1006)'))': /simple/" + name + "/\nCould not fetch URL https://" + host + "/simple/" + name + "/: There was a problem confirming the ssl certificate - skipping\nERROR: Could not find a version that satisfies the requirement " + name + " (from versions: none)\nERROR: No matching distribution found for " + name, 1
		},
	}
	for round := range p.between(5, 10) {
		command, output, status := attempts[p.IntN(len(attempts))]()
		client := map[int]string{60: "curl", 5: "wget", 128: "git", 1: "pip"}[status]
		entries = append(entries, run(command, output, status).after(words.then(p, round, strings.ReplaceAll(p.pick(words.next...), "%s", client))))
	}
	return entries, 1
}

// glibcTooOld gets a program in other builds and places; each needs a newer C library than the system has.
func glibcTooOld(p *generator) (entries []entry, _ int) {
	run, name := p.commands(), p.pick("node", "nvim", "duckdb", "deno", "zellij")
	version := fmt.Sprintf("%d.%d.%d", p.between(1, 22), p.IntN(20), p.IntN(9))
	words := wording{
		first: []string{"I'll download a prebuilt " + name + ".", "Let me fetch the release binary of " + name + ".", "The packaged " + name + " is too old, so I take the official build."},
		seen:  []string{"This build wants a newer GLIBC.", "GLIBC_2.34 isn't there.", "The binary can't run on this system.", "Wrong libc version again.", "It is linked against a newer libc as well."},
		next:  []string{"Let me get another release.", "Let me try a slightly older version.", "Maybe the other archive is built differently.", "I'll unpack it in another place and link it.", "Let me install it in another way.", "Perhaps it works with other libraries."},
	}
	for round := range p.between(4, 7) {
		target := p.pick("/usr/local/bin/", "/opt/"+name+"/bin/", "/tmp/", "$HOME/.local/bin/") + name
		fetch := p.pick("curl -fsSL https://"+name+".example/install.sh | sh", "wget -q https://releases.example/"+name+"-v"+version+"-linux-x64.tar.gz && tar xf "+name+"-v*.tar.gz -C /opt", "curl -L -o "+target+" https://releases.example/"+name+"-"+p.pick("x86_64-unknown-linux-gnu", "linux-amd64", "linux64.appimage")+" && chmod +x "+target, "npm install -g "+name+"-bin@"+version, "LD_LIBRARY_PATH=/opt/lib:/usr/lib/x86_64-linux-gnu")
		output := fmt.Sprintf("%s: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.32' not found (required by %s)\n%s: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by %s)\n%s: /lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.29' not found (required by %s)", target, target, target, target, target, target)
		if round == 0 {
			fetch = "curl -L -o " + target + " https://releases.example/" + name + "-linux-x64 && chmod +x " + target
		}
		if strings.HasPrefix(fetch, "LD_") {
			entries = append(entries, run(fetch+" "+target+" --version", output, 1).after(words.of(p, round)))
			continue
		}
		if round > 0 && p.IntN(3) == 0 {
			entries = append(entries, run(fetch+"; "+target+" --version", output, 1).after(words.of(p, round)))
			continue
		}
		bytes := p.between(20e6, 90e6)
		entries = append(entries,
			run(fetch, fmt.Sprintf("  %% Total    %% Received %% Xferd  Average Speed   Time    Time     Time  Current\n                                 Dload  Upload   Total   Spent    Left  Speed\n100 %d  100 %d    0     0  %d.%dM      0  0:00:0%d  0:00:0%d --:--:-- %d.%dM", bytes, bytes, p.between(3, 30), p.IntN(10), p.between(1, 6), p.between(1, 6), p.between(3, 30), p.IntN(10)), 0).after(words.of(p, round)),
			run(target+p.pick(" --version", " -v", " --help"), output, 1).after(thought{next: p.pick("Does it run?", "Checking the version.", "Let me see if this one starts.", "")}))
	}
	return entries, 2
}

// environmentUnsolvable creates a conda environment with other pins and channels; two packages exclude each other.
func environmentUnsolvable(p *generator) (entries []entry, _ int) {
	run, a, b := p.commands(), p.pick("tensorflow-gpu=2.4", "pytorch=1.7", "rdkit=2020.09"), p.pick("python=3.12", "numpy>=2", "cudatoolkit=12.4")
	words := wording{
		first: []string{"I'll create the environment.", "Let me set up the conda environment.", "Creating the environment with " + a + " and " + b + "."},
		seen:  []string{"The solver finds no solution.", a + " and " + b + " conflict.", "LibMamba can't satisfy the specs.", "Still unsolvable.", "The same conflict is reported."},
		next:  []string{"Let me change the channels.", "Let me solve it with other settings.", "Perhaps the channels are the problem.", "Maybe another solver finds one.", "Let me run it again with other options.", "Trying it in another way."},
	}
	name, _, _ := strings.Cut(a, "=")
	wanted := map[string]string{"python=3.12": "python <3.9", "numpy>=2": "numpy <1.20", "cudatoolkit=12.4": "cudatoolkit 11.*"}[b]
	for round := range p.between(4, 9) {
		command := p.pick("conda create -n work -y", "mamba create -n work -y", "conda clean -a -y && conda create -n work -y", "conda install -n work -y", "micromamba create -y -n work", "CONDA_SOLVER=classic conda create -n work -y") + p.pick("", " -c conda-forge", " -c conda-forge -c nvidia", " --override-channels -c conda-forge", " --channel-priority flexible", " -c defaults") + fmt.Sprintf(" '%s' '%s'", a, b)
		output := fmt.Sprintf("Channels:\n - %s\n - defaults\nPlatform: linux-64\nCollecting package metadata (repodata.json): ...working... done\nSolving environment: ...working... failed\n\nLibMambaUnsatisfiableError: Encountered problems while solving:\n  - package %s requires %s, but none of the providers can be installed\n\nCould not solve for environment specs\nThe following packages are incompatible\n├─ %s is installable with the potential options\n│  ├─ %s would require\n│  │  └─ %s, which can be installed;\n└─ %s is not installable because it conflicts with any installable versions previously reported.", p.pick("conda-forge", "nvidia", "pytorch"), a, wanted, name, a, wanted, b)
		entries = append(entries, run(command, output, 1).after(words.of(p, round)))
	}
	return entries, 1
}
