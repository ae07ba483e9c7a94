package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of agents in terminal benchmarks and puzzles: one level, commit, letter or site after the other.

func puzzleLookalikes() []kind {
	return []kind{
		{name: "levels_of_wargame_passed", build: levelsOfWargamePassed},
		{name: "dangling_commits_shown_in_turn", build: danglingCommitsShownInTurn},
		{name: "key_recovered_letter_by_letter", build: keyRecoveredLetterByLetter},
		{name: "sites_configured_and_probed_in_turn", build: sitesConfiguredAndProbedInTurn},
	}
}

// secret returns a random password.
func (p *generator) secret(n int) string {
	text := ""
	for range n {
		text += string("abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"[p.IntN(57)])
	}
	return text
}

// levelsOfWargamePassed logs in to one level after the other by the password that the last one gave.
func levelsOfWargamePassed(p *generator) (entries []entry, _ int) {
	run, game, level := p.operator(), p.pick("bandit", "level", "natas", "leviathan", "stage"), p.between(0, 12)
	host, port, banner := p.word()+".labs.example", p.between(2000, 2999), p.coin()
	tasks := []string{"cat readme", "cat ./-", "cat 'spaces in this filename'", "cat inhere/.hidden", "find . -size 1033c ! -executable -exec cat {} +", "sort data.txt | uniq -u", "strings data.txt | grep ==", "base64 -d data.txt", "tr A-Za-z N-ZA-Mn-za-m < data.txt", "xxd -r data.txt | zcat | bzcat", "grep millionth data.txt", "diff passwords.old passwords.new", "cat /etc/cron.d/* && cat /tmp/out"}
	w := wording{
		[]string{"Let me log in to the first level.", "I'll start with this level."},
		[]string{"That is the password of the next level.", "Got it.", "Level solved.", "We have the next password.", ""},
		[]string{"On to level %d.", "Now level %d.", "Next level.", "Let me log in as " + game + "%d."},
	}
	password := p.secret(32)
	for k := range p.between(6, 13) {
		t, next := w.of(p, k), p.secret(32)
		t.next = strings.ReplaceAll(t.next, "%d", fmt.Sprint(level+k))
		output := next
		if banner {
			output = "                     This is a " + game + " game server. More information on http://" + host + "/wargames\n\n" + next
		}
		entries = append(entries, run(fmt.Sprintf("sshpass -p %s ssh -o StrictHostKeyChecking=no -p %d %s%d@%s \"%s\"", password, port, game, level+k, host, tasks[(level+k)%len(tasks)]), output, 0).after(t))
		password = next
	}
	return entries, 0
}

// commitHash returns the hash of an object of Git.
func (p *generator) commitHash() string {
	return fmt.Sprintf("%08x%016x%016x", p.Uint32(), p.Uint64(), p.Uint64())
}

// danglingCommitsShownInTurn shows one dangling commit after the other until the lost work is found, and brings it back.
func danglingCommitsShownInTurn(p *generator) (entries []entry, _ int) {
	run, author := p.operator(), p.person()
	address := p.mailbox(author)
	hashes := make([]string, p.between(6, 13))
	list := "Checking object directories: 100% (256/256), done.\n"
	for k := range hashes {
		hashes[k] = p.commitHash()
		list += "dangling commit " + hashes[k] + "\n"
	}
	show := p.pick("git show --stat %s", "git log -1 -p %s", "git show %s | head -40", "git cat-file -p %s")
	w := wording{
		[]string{"Let me look at the first one.", "I'll look at each of them."},
		[]string{"That is not it.", "An old merge.", "Not the lost work.", "Only a stash.", ""},
		[]string{"Next one.", "Let me look at the next.", "Now %s.", "What is in %s?"},
	}
	entries = append(entries, run("git fsck --lost-found", strings.TrimSpace(list), 0).after(thought{"", "Let me see which commits are lost."}))
	for k, hash := range hashes {
		t := w.of(p, k)
		t.next = strings.ReplaceAll(t.next, "%s", hash[:8])
		message := p.pick("WIP on "+p.word()+": ", "index on main: ", "Merge branch '"+p.word()+"'", "Add "+p.word()+" ", "Fix ") + p.phrase(1, 4)
		text := fmt.Sprintf("commit %s\nAuthor: %s <%s>\nDate:   Thu Jun %d %02d:%02d:%02d 2026 +0200\n\n    %s\n", hash, author, address, p.between(1, 28), p.IntN(24), p.IntN(60), p.IntN(60), message)
		if strings.HasPrefix(show, "git cat-file") {
			text = fmt.Sprintf("tree %s\nparent %s\nauthor %s <%s> %d +0200\ncommitter %s <%s> %d +0200\n\n%s", p.commitHash(), p.commitHash(), author, address, 1_780_000_000+k*977, author, address, 1_780_000_000+k*977, message)
		} else {
			for range p.between(1, 14) {
				text += fmt.Sprintf("\n %s | %d %s", p.path(), p.between(1, 90), p.pick("+", "++--", "+++", "-"))
			}
		}
		entries = append(entries, run(fmt.Sprintf(show, hash[:p.pickInt(8, 12, 40)]), text, 0).after(t))
	}
	last := hashes[len(hashes)-1]
	return append(entries, run("git merge --ff-only "+last[:8], "Updating "+hashes[0][:7]+".."+last[:7]+"\nFast-forward", 0).after(thought{"This is the lost work.", "I bring it back."})), 0
}

// keyRecoveredLetterByLetter measures which next letter of a key the program takes; the key gets one letter longer with each run.
func keyRecoveredLetterByLetter(p *generator) (entries []entry, _ int) {
	run, prefix, key, cost := p.operator(), p.pick("flag{", "CTF{", "", "KEY-"), p.secret(p.between(6, 14)), p.between(10_000, 90_000)
	program := p.pick("./crackme", "./checker", "./vault", "./serial")
	short := p.coin()
	count := p.pick("perf stat -e instructions:u", "valgrind --tool=none", "qemu-x86_64 -plugin libinsn.so")
	w := wording{
		[]string{"The check leaves at the first wrong letter, so I can count instructions per letter.", "Let me measure the first letter."},
		[]string{"One letter more.", "That letter stands out.", "`%s` so far.", "The key grows.", ""},
		[]string{"Next letter.", "Now the next position.", "On to the next one.", "Let me run it for the next letter."},
	}
	for k := range len(key) {
		known := prefix + key[:k]
		t := w.of(p, k)
		t.seen = strings.ReplaceAll(t.seen, "%s", known)
		cost += p.between(300, 340)
		text := ""
		if !short {
			for range p.between(3, 40) {
				text += fmt.Sprintf("%s%s  %d\n", known, p.secret(1), cost-p.between(290, 300))
			}
		}
		text += fmt.Sprintf("best: %s (%d instructions, others %d)", known+key[k:k+1], cost, cost-295)
		entries = append(entries, run(fmt.Sprintf("python3 side.py --count '%s' --binary %s --known '%s'", count, program, known), text, 0).after(t))
	}
	return append(entries, run(program+" '"+prefix+key+"'", p.pick("Correct!", "Access granted.", "Well done, that is the key."), 0).after(thought{"The key is complete.", "Let me check it."})), 0
}

// sitesConfiguredAndProbedInTurn writes the configuration of one site after the other, tests it, reloads the server and asks for the site.
func sitesConfiguredAndProbedInTurn(p *generator) (entries []entry, _ int) {
	h, domain := p.harness(), p.word()+".test"
	folder, check := "/etc/nginx/conf.d/", "nginx -t && nginx -s reload"
	fine := "nginx: the configuration file /etc/nginx/nginx.conf syntax is ok\nnginx: configuration file /etc/nginx/nginx.conf test is successful"
	server := p.pick("nginx/1.24.0", "nginx/1.18.0 (Ubuntu)")
	site := func(name string, port int) string {
		return fmt.Sprintf("server {\n    listen 80;\n    server_name %s.%s;\n    location / {\n        proxy_pass http://127.0.0.1:%d;\n    }\n}\n", name, domain, port)
	}
	if p.IntN(3) == 0 {
		folder, check, fine, server = "/etc/apache2/sites-enabled/", "apachectl configtest && apachectl graceful", "Syntax OK", "Apache/2.4.58 (Ubuntu)"
		site = func(name string, port int) string {
			return fmt.Sprintf("<VirtualHost *:80>\n    ServerName %[1]s.%[2]s\n    ProxyPass / http://127.0.0.1:%[3]d/\n    ProxyPassReverse / http://127.0.0.1:%[3]d/\n</VirtualHost>\n", name, domain, port)
		}
	}
	heads := p.coin()
	w := wording{
		[]string{"I'll set up the sites one by one.", "Let me write the first site."},
		[]string{"That site answers.", "It works.", "Up and running.", ""},
		[]string{"Next site.", "Now `%s`.", "On to `%s`.", "The same for `%s`."},
	}
	for k, name := range p.distinctWords(p.between(5, 10)) {
		t := w.of(p, k)
		t.next = strings.ReplaceAll(t.next, "%s", name)
		probe, answer := "curl -s -H 'Host: "+name+"."+domain+"' http://localhost/ | head -20", "<!doctype html>\n<title>"+capitalized(name)+"</title>\n<h1>"+capitalized(p.phrase(2, 5))+"</h1>"
		if heads {
			probe, answer = "curl -sI http://"+name+"."+domain+"/", fmt.Sprintf("HTTP/1.1 200 OK\nServer: %s\nDate: Thu, 11 Jun 2026 %02d:%02d:%02d GMT\nContent-Type: text/html\nContent-Length: %d", server, 9+k/4, p.IntN(60), p.IntN(60), p.between(200, 90_000))
		}
		entries = append(entries, h.create(folder+name+".conf", site(name, 3000+10*k)).after(t),
			h.shell(check, fine, 0).after(thought{"", p.pick("Test and reload.", "Is the configuration valid?", "")}),
			h.shell(probe, answer, 0).after(thought{"", p.pick("Does it answer?", "Let me ask for it.", "")}))
	}
	return entries, 0
}
