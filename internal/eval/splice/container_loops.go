package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that do tasks in a container or analyse data.

func containerLoops() []kind {
	return []kind{
		{name: "no_network", build: noNetwork},
		{name: "still_forbidden", build: stillForbidden},
		{name: "boot_never_finishes", build: bootNeverFinishes},
		{name: "response_not_parsed", build: responseNotParsed},
		{name: "dataframe_key_error", build: dataframeKeyError},
		{name: "accuracy_at_chance", build: accuracyAtChance},
	}
}

// noNetwork fetches something from other hosts by other programs, in a container without a network.
func noNetwork(p *generator) (entries []entry, _ int) {
	run, what := p.commands(), p.word()
	connection := func() string {
		return fmt.Sprintf("<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f%010x>", p.Uint64N(1<<40))
	}
	type attempt struct {
		command, output string
		status          int
	}
	attempts := []attempt{
		{"pip install " + what, fmt.Sprintf("WARNING: Retrying (Retry(total=%d, connect=None, read=None, redirect=None, status=None)) after connection broken by 'NewConnectionError('%s: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/%s/\nERROR: Could not find a version that satisfies the requirement %s (from versions: none)", p.IntN(5), connection(), what, what), 1},
		{"curl -LO https://github.com/" + what + "/" + what + "/archive/refs/heads/main.zip", "curl: (6) Could not resolve host: github.com", 6},
		{"wget https://raw.githubusercontent.com/" + what + "/" + what + "/main/setup.py", "--" + p.clock() + "--  https://raw.githubusercontent.com/\nResolving raw.githubusercontent.com (raw.githubusercontent.com)... failed: Temporary failure in name resolution.\nwget: unable to resolve host address 'raw.githubusercontent.com'", 4},
		{"git clone https://github.com/" + what + "/" + what + ".git", "Cloning into '" + what + "'...\nfatal: unable to access 'https://github.com/" + what + "/" + what + ".git/': Could not resolve host: github.com", 128},
		{"apt-get update", "Ign:1 http://deb.debian.org/debian bookworm InRelease\nErr:1 http://deb.debian.org/debian bookworm InRelease\n  Temporary failure resolving 'deb.debian.org'\nW: Some index files failed to download. They have been ignored, or old ones used instead.", 0},
		{"npm install " + what, "npm error code EAI_AGAIN\nnpm error errno EAI_AGAIN\nnpm error request to https://registry.npmjs.org/" + what + " failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org", 1},
		{"ping -c 1 pypi.org", "ping: pypi.org: Temporary failure in name resolution", 2},
		{"python3 -c \"import urllib.request; urllib.request.urlopen('https://pypi.org/simple/" + what + "/')\"", fmt.Sprintf("Traceback (most recent call last):\n  File \"/usr/lib/python3.11/urllib/request.py\", line %d, in do_open\nurllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>", p.between(1340, 1360)), 1},
		{"pip download " + what + " --index-url https://mirrors.aliyun.com/pypi/simple/", fmt.Sprintf("WARNING: Retrying (Retry(total=%d, connect=None, read=None, redirect=None, status=None)) after connection broken by 'NewConnectionError('%s: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')': /pypi/simple/%s/\nERROR: No matching distribution found for %s", p.IntN(5), connection(), what, what), 1},
		{"conda install -y -c conda-forge " + what, "Collecting package metadata (current_repodata.json): failed\n\nCondaHTTPError: HTTP 000 CONNECTION FAILED for url <https://conda.anaconda.org/conda-forge/linux-64/current_repodata.json>\nElapsed: -", 1},
	}
	p.Shuffle(len(attempts), func(i, j int) { attempts[i], attempts[j] = attempts[j], attempts[i] })
	for round, a := range attempts[:p.between(5, 9)] {
		if round > 1 {
			entries = append(entries, p.sometimes("That failed. Let me try another source.", "Let me try a mirror instead.", "Maybe another tool can download it.", "Let me try a different way to get "+what+".")...)
		}
		entries = append(entries, run(a.command, a.output, a.status))
	}
	return entries, 1
}

// stillForbidden changes the configuration of a web server and the rights of its files; the page is forbidden all the same.
func stillForbidden(p *generator) (entries []entry, _ int) {
	run, site := p.commands(), p.word()
	root := "/srv/private/" + site
	commands := p.shuffled(
		"chmod -R 755 "+root, "chown -R www-data:www-data "+root, "sed -i 's#root .*;#root "+root+";#' /etc/nginx/sites-available/default", "chmod 644 "+root+"/index.html", "chmod -R 777 "+root,
		"sed -i 's/index .*;/index index.html;/' /etc/nginx/sites-enabled/"+site, "ln -sf /etc/nginx/sites-available/"+site+" /etc/nginx/sites-enabled/"+site, "sed -i 's/autoindex off/autoindex on/' /etc/nginx/nginx.conf", "rm -f /etc/nginx/sites-enabled/default")
	for round, command := range commands[:p.between(4, 7)] {
		if round > 1 {
			entries = append(entries, p.sometimes("Still 403. It must be the permissions.", "Let me fix the configuration and reload nginx.", "The server still answers with 403 Forbidden. Let me check the root directive.")...)
		}
		look, page := p.pick("curl -I http://localhost/", "curl -sI http://localhost:80/", "curl -i -s http://localhost/ | head -6"), fmt.Sprintf("HTTP/1.1 403 Forbidden\nServer: nginx/1.22.1\nDate: Tue, 10 Nov 2026 %02d:%02d:%02d GMT\nContent-Type: text/html\nContent-Length: 153\nConnection: keep-alive", p.IntN(24), p.IntN(60), p.IntN(60))
		if p.IntN(3) == 0 {
			look, page = p.pick("curl http://localhost/", "curl -s localhost/index.html"), "<html>\r\n<head><title>403 Forbidden</title></head>\r\n<body>\r\n<center><h1>403 Forbidden</h1></center>\r\n<hr><center>nginx/1.22.1</center>\r\n</body>\r\n</html>"
		}
		reload, output := " && nginx -s reload", ""
		if p.IntN(3) == 0 {
			reload, output = " && nginx -t && nginx -s reload", "nginx: the configuration file /etc/nginx/nginx.conf syntax is ok\nnginx: configuration file /etc/nginx/nginx.conf test is successful"
		}
		entries = append(entries, run(command+reload, output, 0), run(look, page, 0))
	}
	return entries, 2
}

// bootNeverFinishes waits for the prompt of a virtual machine, presses keys and connects again; its console stays blank.
func bootNeverFinishes(p *generator) (entries []entry, _ int) {
	port := p.between(2000, 9000)
	blank := "New Terminal Output:\n\n"
	keys := func(keystrokes string, seconds int, output string) entry {
		return call("bash_command", object("keystrokes", keystrokes, "duration", seconds), quoted(output))
	}
	connected := fmt.Sprintf("root@c0ffee:/app# telnet 127.0.0.1 %d\nTrying 127.0.0.1...\nConnected to 127.0.0.1.\nEscape character is '^]'.\n", port)
	entries = append(entries, keys(fmt.Sprintf("telnet 127.0.0.1 %d\n", port), p.between(5, 15), blank+connected))
	for round := range p.between(7, 12) {
		if round > 0 {
			entries = append(entries, p.sometimes("The VM is probably still booting. I'll wait longer.", "No login prompt yet. Let me press Enter.", "The console shows nothing. Let me reconnect.", "I'll give it more time to boot.")...)
		}
		switch p.IntN(4) {
		case 0:
			entries = append(entries, keys(fmt.Sprintf("\x1d\nquit\ntelnet 127.0.0.1 %d\n", port), p.pickInt(5, 10, 15), blank+"telnet> quit\nConnection closed.\n"+connected))
		case 1:
			entries = append(entries, keys("", p.pickInt(30, 60, 120, 180), blank))
		default:
			entries = append(entries, keys(p.pick("\n", "\r", "root\n", "\n\n", "\x03"), p.pickInt(5, 10, 30, 60), blank))
		}
	}
	return entries, 1
}

// responseNotParsed writes in prose what it will do; the harness wants JSON, and says so.
func responseNotParsed(p *generator) (entries []entry, _ int) {
	file := p.word() + p.pick(".py", ".sh", ".c", ".json")
	for range p.between(4, 7) {
		entries = append(entries,
			say(p.pick("I apologize for the confusion. ", "Let me continue. ", "", "You're right. ", "Understood. ")+p.pick("I'll start by looking at "+file+" to see what it does.", "First, I need to check "+file+".", "The next step is to inspect "+file+" and then run it.", "I will now examine the contents of "+file+".")+p.pick("\n\n```bash\ncat "+file+"\n```", "\n\n```bash\nls -la && cat "+file+"\n```", "", "\n\n<tool_call>\ncat "+file+"\n</tool_call>")),
			user("Previous response had parsing errors:\nERROR: No valid JSON found in response\nWARNINGS: - No valid JSON object found\n\nPlease fix these issues and provide a proper JSON response."))
	}
	return entries, 2
}

// dataframeKeyError reads one table in other ways; it does not have the column.
func dataframeKeyError(p *generator) (entries []entry, _ int) {
	file, column, other := p.word()+".csv", p.pick("Date", "Revenue", "customer_id", "Total", "Category", "timestamp"), p.word()
	tool := p.pick("execute_python", "run_ipython", "python", "execute_code")
	for round := range p.between(4, 7) {
		if round > 1 {
			entries = append(entries, p.sometimes("The column name may have whitespace. Let me strip it.", "Let me read the file with another separator.", "Let me fix the KeyError.", "Perhaps the header is in another row.")...)
		}
		read := p.pick("df = pd.read_csv('"+file+"')", "df = pd.read_csv('"+file+"', sep=';')", "df = pd.read_csv('"+file+"', header=0)", "df = pd.read_csv('"+file+"', encoding='utf-8-sig')", "df = pd.read_csv('"+file+"', skipinitialspace=True)", "df = pd.read_csv('"+file+"', skiprows=1)\ndf.columns = df.columns.str.strip()", "df = pd.read_csv('"+file+"', index_col=False)")
		use := p.pick("df['"+column+"'].head()", "df.groupby('"+column+"')['"+other+"'].sum()", "df['"+column+"'] = df['"+column+"'].astype(str)", "print(df['"+column+"'].nunique())", "df[['"+column+"']].describe()")
		output := fmt.Sprintf("Traceback (most recent call last):\n  File \"/usr/local/lib/python3.11/site-packages/pandas/core/indexes/base.py\", line 3805, in get_loc\n    return self._engine.get_loc(casted_key)\n  File \"index.pyx\", line 167, in pandas._libs.index.IndexEngine.get_loc\nKeyError: '%[1]s'\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File \"<ipython-input-%[2]d-%012[3]x>\", line %[4]d, in <module>\n    %[5]s\nKeyError: '%[1]s'", column, p.between(1, 40), p.Uint64N(1<<48), p.between(2, 4), use)
		if strings.HasPrefix(use, "df.groupby") {
			output = fmt.Sprintf("Traceback (most recent call last):\n  File \"<ipython-input-%d-%012x>\", line %d, in <module>\n    %s\n  File \"/usr/local/lib/python3.11/site-packages/pandas/core/groupby/grouper.py\", line 1043, in get_grouper\n    raise KeyError(gpr)\nKeyError: '%s'", p.between(1, 40), p.Uint64N(1<<48), p.between(2, 4), use, column)
		}
		entries = append(entries, call(tool, object("code", "import pandas as pd\n"+read+"\n"+use), quoted(output)))
	}
	return entries, 1
}

// accuracyAtChance trains a classifier with other settings; its accuracy is that of guessing.
func accuracyAtChance(p *generator) (entries []entry, _ int) {
	run, script := p.commands(), "train_"+p.word()+".py"
	for round := range p.between(4, 7) {
		if round > 1 {
			entries = append(entries, p.sometimes("The model is not learning. Let me lower the learning rate.", "Accuracy is still 10%. Let me try another optimizer.", "Let me train a bit longer.", "Perhaps a different batch size helps.")...)
		}
		epochs := p.between(2, 4)
		var output strings.Builder
		for epoch := range epochs {
			fmt.Fprintf(&output, "Epoch %d/%d - %ds - loss: 2.30%02d - accuracy: 0.%04d - val_loss: 2.302%d - val_accuracy: 0.1000\n", epoch+1, epochs, p.between(4, 40), p.between(25, 60), p.between(975, 1024), p.between(5, 9))
		}
		output.WriteString("Test accuracy: 10.00%")
		entries = append(entries, run(fmt.Sprintf("python %s --epochs %d --lr %s --optimizer %s --batch-size %d", script, epochs, p.pick("0.1", "0.01", "0.001", "3e-4", "1e-5"), p.pick("adam", "sgd", "rmsprop", "adamw"), p.pickInt(32, 64, 128, 256)), output.String(), 0))
	}
	return entries, 1
}
