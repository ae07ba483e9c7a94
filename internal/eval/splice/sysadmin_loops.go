package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents at a terminal that set up services, packages and cloud accounts.

func sysadminLoops() []kind {
	return []kind{
		{name: "variables_lost_in_heredoc", build: variablesLostInHeredoc},
		{name: "archive_password_guessed", build: archivePasswordGuessed},
		{name: "name_neither_free_nor_mine", build: nameNeitherFreeNorMine},
		{name: "versions_installed_in_turn", build: versionsInstalledInTurn},
	}
}

// writtenFile is a file with dollar signs or tabs that the shell replaces when it is written by a heredoc without quotes.
type writtenFile struct {
	path, check string
	text        func() string // what the agent writes
	arrived     string        // the line at fault as it is in the file
	output      string        // of the check
}

func (p *generator) writtenFile(name string) writtenFile {
	port := p.between(3000, 9000)
	switch p.IntN(3) {
	case 0:
		path := "/etc/nginx/" + p.pick("conf.d/"+name+".conf", "sites-available/"+name)
		return writtenFile{
			path, p.pick("nginx -t", "sudo nginx -t", "nginx -t 2>&1"),
			func() string {
				lines := p.shuffled("        proxy_set_header X-Real-IP $remote_addr;", "        proxy_set_header X-Forwarded-Proto $scheme;", "        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;", "        proxy_http_version 1.1;", fmt.Sprintf("        proxy_read_timeout %ds;", p.pickInt(30, 60, 120, 300)), "        proxy_buffering off;")
				return fmt.Sprintf("server {\n    listen %s;\n    server_name %s.example;\n\n    location / {\n        proxy_set_header Host $host;\n        proxy_pass http://127.0.0.1:%d;\n%s\n    }\n}", p.pick("80", "80 default_server", "8080"), name, port, strings.Join(lines[:p.between(1, 6)], "\n"))
			},
			"        proxy_set_header Host ;",
			"nginx: [emerg] invalid number of arguments in \"proxy_set_header\" directive in " + path + ":6\nnginx: configuration file /etc/nginx/nginx.conf test failed",
		}
	case 1:
		return writtenFile{
			"docker-compose.yml", p.pick("docker compose config -q", "docker compose up -d", "docker compose pull"),
			func() string {
				extra := p.shuffled("    restart: unless-stopped", fmt.Sprintf("    ports:\n      - \"%d:%d\"", port, port), "    env_file: .env", "    depends_on: [db]", "    logging:\n      driver: json-file", "    networks: [default]")
				return fmt.Sprintf("%sservices:\n  %s:\n    image: registry.example/%s:${TAG}\n%s\n  db:\n    image: postgres:16", p.pick("", "version: \"3.9\"\n"), name, name, strings.Join(extra[:p.between(1, 5)], "\n"))
			},
			"    image: registry.example/" + name + ":",
			"unable to get image 'registry.example/" + name + ":': Error response from daemon: invalid reference format",
		}
	}
	path := p.pick("/usr/local/bin/", "/opt/scripts/") + name + "-backup.sh"
	return writtenFile{
		path, "bash " + path,
		func() string {
			head := p.pick("#!/bin/bash\nset -euo pipefail", "#!/usr/bin/env bash\nset -eu", "#!/bin/bash -e")
			loop := p.pick("for f in \"$SOURCE\"/*; do\n  cp -a \"$f\" \"$TARGET/\"\ndone", "for dir in $SOURCE $SOURCE/.config; do\n  rsync -a \"$dir\" \"$TARGET\"\ndone", "tar czf \"$TARGET/data-$(date +%F).tgz\" \"$SOURCE\"")
			return fmt.Sprintf("%s\nSOURCE=/srv/%s\nTARGET=/backup/%s\nmkdir -p \"$TARGET\"\n%s\n%s", head, name, name, loop, p.pick("echo done", "find \"$TARGET\" -mtime +14 -delete", "ls -1 \"$TARGET\" | wc -l"))
		},
		"mkdir -p \"\"", "mkdir: cannot create directory ‘’: No such file or directory",
	}
}

// variablesLostInHeredoc writes a file by a heredoc whose variables the shell replaces by nothing; the check fails at the same line.
func variablesLostInHeredoc(p *generator) (entries []entry, _ int) {
	run := p.commands()
	f := p.writtenFile(p.word())
	w := wording{
		[]string{"Let me write `" + f.path + "`.", "First I create `" + f.path + "`."},
		[]string{"The check fails.", "The same error again.", "There must be something wrong with the syntax.", "That line is still invalid.", "The file looked right.", ""},
		[]string{"Let me rewrite the file.", "I'll write a simpler version.", "Let me write it again from scratch.", "Let me fix the options and write it anew.", "I'll write it with other settings."},
	}
	for k := range p.repeats() {
		command := fmt.Sprintf(p.pick("cat > %s <<EOF\n%s\nEOF", "sudo tee %s > /dev/null <<EOF\n%s\nEOF", "bash -c 'cat > %s' <<END\n%s\nEND"), f.path, f.text())
		entries = append(entries, run(command, "", 0).after(w.of(p, k)))
		if k > 0 && p.IntN(4) == 0 {
			entries = append(entries, run(p.pick("grep -n '' ", "cat ")+f.path+" | "+p.pick("sed -n '5,7p'", "head -7 | tail -3"), f.arrived, 0).after(thought{"", p.pick("Let me look at the line.", "What is in the file?")}))
		}
		entries = append(entries, run(f.check, f.output, 1).after(thought{"", p.pick("Check it.", "Let me test it.", "Now run it.", "Is it valid?", "")}))
	}
	return entries, 2
}

// archivePasswordGuessed tries passwords that come to mind on an encrypted file, one by one.
func archivePasswordGuessed(p *generator) (entries []entry, _ int) {
	run, name, inner := p.commands(), p.word(), p.word()+p.pick(".txt", ".csv", ".pdf", ".key")
	size := p.between(200, 90_000)
	a := []struct {
		try    string
		output func() string
	}{
		{"7z t -p'%s' " + name + ".7z", func() string {
			return fmt.Sprintf("7-Zip 23.01 (x64) : Copyright (c) 1999-2023 Igor Pavlov : 2023-06-20\n\nScanning the drive for archives:\n1 file, %d bytes\n\nTesting archive: %s.7z\n\nERROR: Data Error in encrypted file. Wrong password? : %s\n\nSub items Errors: 1\n\nArchives with Errors: 1", size, name, inner)
		}},
		{"unzip -o -P '%s' " + name + ".zip", func() string {
			return "Archive:  " + name + ".zip\n   skipping: " + inner + "  incorrect password"
		}},
		{"gpg --batch --yes --passphrase '%s' -o " + inner + " -d " + inner + ".gpg", func() string {
			return "gpg: AES256.CFB encrypted data\ngpg: encrypted with 1 passphrase\ngpg: decryption failed: Bad session key"
		}},
		{"openssl enc -d -aes-256-cbc -pbkdf2 -in " + name + ".enc -out " + inner + " -k '%s'", func() string {
			return fmt.Sprintf("bad decrypt\n%08X%08X:error:1C800064:Provider routines:ossl_cipher_unpadblock:bad decrypt:../providers/implementations/ciphers/ciphercommon_block.c:124:", p.Uint32(), p.Uint32())
		}},
	}[p.IntN(4)]
	guess := func() string {
		word := p.pick("password", "secret", "admin", "letmein", name, name, strings.Split(inner, ".")[0], p.word(), p.word(), "welcome", "changeme", "qwerty")
		return p.pick(word, capitalized(word), word+"123", word+fmt.Sprint(p.between(2018, 2026)), word+"!", strings.ToUpper(word), capitalized(word)+fmt.Sprint(p.IntN(100)), strings.ReplaceAll(word, "a", "@"), strings.ReplaceAll(word, "e", "3")+"1")
	}
	w := wording{
		[]string{"The file is encrypted. Let me try an obvious password.", "I don't have the password. Let me try a common one."},
		[]string{"Not the right one.", "Wrong password.", "That did not work either.", "No luck.", ""},
		[]string{"Let me try another common password.", "Maybe it is a variation of the name.", "Let me try it with a year.", "I'll try the next one.", "Perhaps with a capital letter.", "Let me try one more."},
	}
	for k := range p.pickInt(8, 9, 10, 11, 12, 14, 16, 20, 25) {
		if k > 1 && p.IntN(7) == 0 {
			guesses, marks := []string{guess(), guess(), guess(), guess()}[:p.between(2, 4)], ""
			for _, g := range guesses {
				marks += g + ": no\n"
			}
			loop := "for p in " + strings.Join(guesses, " ") + "; do " + fmt.Sprintf(a.try, "$p") + " >/dev/null 2>&1 && echo \"$p: yes\" || echo \"$p: no\"; done"
			entries = append(entries, run(strings.ReplaceAll(loop, "'$p'", "\"$p\""), strings.TrimSpace(marks), 0).after(w.of(p, k)))
			continue
		}
		entries = append(entries, run(fmt.Sprintf(a.try, guess()), a.output(), 2).after(w.of(p, k)))
	}
	return entries, 1
}

// nameNeitherFreeNorMine creates a resource whose name another account has, does not find it in its own account, and creates it again.
func nameNeitherFreeNorMine(p *generator) (entries []entry, _ int) {
	run, name := p.waitingShell(), p.word()+"-"+p.pick("data", "assets", "backup", "logs", "prod")
	compact, group := strings.ReplaceAll(name, "-", "")+"01", "rg-"+p.word()
	c := []struct {
		creates []string
		taken   string
		looks   [][2]string
	}{
		{
			[]string{"aws s3 mb s3://" + name, "aws s3 mb s3://" + name + " --region eu-central-1", "aws s3api create-bucket --bucket " + name + " --region us-east-1", "aws s3api create-bucket --bucket " + name + " --create-bucket-configuration LocationConstraint=eu-west-1"},
			"An error occurred (BucketAlreadyExists) when calling the CreateBucket operation: The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again.",
			[][2]string{{"aws s3 ls | grep " + name, ""}, {"aws s3api head-bucket --bucket " + name, "An error occurred (403) when calling the HeadBucket operation: Forbidden"}, {"aws s3 rb s3://" + name + " --force", "fatal error: An error occurred (AccessDenied) when calling the ListObjectsV2 operation: Access Denied\n\nremove_bucket failed: Unable to delete all objects in the bucket, bucket will not be deleted."}, {"aws s3api list-buckets --query \"Buckets[?Name=='" + name + "']\"", "[]"}},
		},
		{
			[]string{"az storage account create -n " + compact + " -g " + group, "az storage account create -n " + compact + " -g " + group + " -l westeurope --sku Standard_LRS", "az storage account create --name " + compact + " --resource-group " + group + " --kind StorageV2"},
			"(StorageAccountAlreadyTaken) The storage account named " + compact + " is already taken.\nCode: StorageAccountAlreadyTaken\nMessage: The storage account named " + compact + " is already taken.",
			[][2]string{{"az storage account list -g " + group + " -o table", ""}, {"az storage account show -n " + compact + " -g " + group, "(ResourceNotFound) The Resource 'Microsoft.Storage/storageAccounts/" + compact + "' under resource group '" + group + "' was not found."}, {"az storage account check-name -n " + compact, "{\n  \"message\": \"The storage account named " + compact + " is already taken.\",\n  \"nameAvailable\": false,\n  \"reason\": \"AlreadyExists\"\n}"}},
		},
		{
			[]string{"gcloud projects create " + name, "gcloud projects create " + name + " --name=" + name, "gcloud projects create " + name + " --set-as-default"},
			"ERROR: (gcloud.projects.create) Project creation failed. The project ID you specified is already in use by another project. Please try an alternative ID.",
			[][2]string{{"gcloud projects list --filter=" + name, "Listed 0 items."}, {"gcloud projects describe " + name, "ERROR: (gcloud.projects.describe) [deploy@" + group + ".example] does not have permission to access projects instance [" + name + "] (or it may not exist): The caller does not have permission."}, {"gcloud projects delete " + name + " --quiet", "ERROR: (gcloud.projects.delete) [deploy@" + group + ".example] does not have permission to access projects instance [" + name + "] (or it may not exist): The caller does not have permission."}},
		},
	}[p.IntN(3)]
	w := wording{
		[]string{"Let me create it.", "I'll create `" + name + "` first."},
		[]string{"It is said to exist, but I cannot see it.", "It is not in the account, so it should be free.", "It does not exist here.", "Perhaps the name was released by now.", ""},
		[]string{"Let me create it again.", "I'll try it with other options.", "Let me try the creation once more.", "Let me create it in another region."},
	}
	for k := range p.repeats() {
		entries = append(entries, run(p.pick(c.creates...), c.taken, 1).after(w.of(p, k)))
		for n, look := range c.looks[p.IntN(2):] {
			if n == 0 || p.IntN(3) == 0 {
				status := 1
				if strings.HasPrefix(look[1], "[") || strings.HasPrefix(look[1], "{") || strings.HasPrefix(look[1], "Listed") || strings.HasPrefix(look[0], "az storage account list") {
					status = 0
				}
				entries = append(entries, run(look[0], look[1], status).after(thought{p.pick("It already exists.", "The name is taken.", ""), p.pick("Let me look at it.", "Is it ours?", "Let me check.", "Let me remove it first.")}))
				if k == 0 {
					break
				}
			}
		}
	}
	return entries, 2
}

// swap is a package of which two others need different versions.
type swap struct {
	installs [2][]string
	printed  func(n int) string
	check    [2]string
	fails    [2]string
}

func (p *generator) swap() swap {
	name, minor := p.word(), p.between(1, 9)
	pip := func(of, low, high, warns string) func(int) string {
		return func(n int) string {
			version, text := []string{low, high}[n], ""
			for _, other := range p.shuffled("packaging", "typing-extensions", "six", "python-dateutil", "pytz", "tzdata")[:p.IntN(6)] {
				text += "Requirement already satisfied: " + other + " in /usr/lib/python3/dist-packages\n"
			}
			text = "Collecting " + of + "==" + version + "\n  Using cached " + of + "-" + version + "-cp311-cp311-manylinux_2_17_x86_64.whl\n" + text
			if n == 0 {
				text += "ERROR: pip's dependency resolver does not currently take into account all the packages that are installed. This behaviour is the source of the following dependency conflicts.\n" + warns + "\n"
			}
			return text + "Successfully installed " + of + "-" + version
		}
	}
	switch p.IntN(3) {
	case 0:
		return swap{
			[2][]string{{"pip install 'numpy<2'", "pip install numpy==1.26.4", "pip install --force-reinstall numpy==1.26.4", "uv pip install 'numpy==1.26.4'"}, {"pip install -U numpy", "pip install 'numpy>=2'", fmt.Sprintf("pip install numpy==2.%d.0", minor%4), "pip install --no-deps numpy==2.2.0"}},
			pip("numpy", "1.26.4", "2.2.0", "opencv-python 4.12.0.88 requires numpy<2.3.0,>=2; python_version >= \"3.9\", but you have numpy 1.26.4 which is incompatible."),
			[2]string{"python " + name + ".py", "python " + name + ".py"},
			[2]string{
				"Traceback (most recent call last):\n  File \"/app/" + name + ".py\", line 3, in <module>\n    import cv2\nImportError: numpy.core.multiarray failed to import (auto-generated because you didn't call 'numpy.import_array()' after cimporting numpy; use '<void>numpy._import_array' to disable if you are certain you don't need it).",
				"A module that was compiled using NumPy 1.x cannot be run in\nNumPy 2.2.0 as it may crash. To support both 1.x and 2.x\nversions of NumPy, modules must be compiled with NumPy 2.0.\n\nTraceback (most recent call last):\n  File \"/app/" + name + ".py\", line 5, in <module>\n    import torch\nRuntimeError: Numpy is not available",
			},
		}
	case 1:
		return swap{
			[2][]string{{"pip install protobuf==3.20.3", "pip install 'protobuf<4'", "pip install --force-reinstall protobuf==3.20.3"}, {"pip install -U protobuf", "pip install 'protobuf>=5'", "pip install protobuf==5.29.3"}},
			pip("protobuf", "3.20.3", "5.29.3", "grpcio-status 1.70.0 requires protobuf<6.0dev,>=5.26.1, but you have protobuf 3.20.3 which is incompatible."),
			[2]string{"python -m " + name + ".server", "python -m " + name + ".server"},
			[2]string{
				"  File \"/app/" + name + "/" + name + "_pb2.py\", line 9, in <module>\n    from google.protobuf import runtime_version as _runtime_version\nImportError: cannot import name 'runtime_version' from 'google.protobuf'",
				"TypeError: Descriptors cannot be created directly.\nIf this call came from a _pb2.py file, your generated code is out of date and must be regenerated with protoc >= 3.19.0.\nIf you cannot immediately regenerate your protos, some other possible workarounds are:\n 1. Downgrade the protobuf package to 3.20.x or lower.",
			},
		}
	}
	return swap{
		[2][]string{{"npm install -D eslint@8", "npm i -D eslint@8.57.1 --legacy-peer-deps", "npm install --save-dev --force eslint@8"}, {"npm install -D eslint@9", "npm i -D eslint@latest --legacy-peer-deps", "npm install --save-dev --force eslint@9"}},
		func(n int) string {
			return fmt.Sprintf("added %d packages, removed %d packages, changed %d packages, and audited %d packages in %ds\n\n%d packages are looking for funding\n  run `npm fund` for details\n\nfound 0 vulnerabilities", 20+minor+3*n, 22+minor-3*n, p.between(1, 9), 400+30*minor+7*n, p.between(1, 20), 100+minor)
		},
		[2]string{"npx eslint src", "npx eslint src"},
		[2]string{
			"Oops! Something went wrong! :(\n\nESLint: 8.57.1\n\nError: Failed to load plugin '" + name + "' declared in '.eslintrc.json': Package subpath './config' is not defined by \"exports\" in /workspace/node_modules/eslint/package.json\nReferenced from: /workspace/.eslintrc.json",
			"Oops! Something went wrong! :(\n\nESLint: 9.17.0\n\nESLint couldn't find an eslint.config.(js|mjs|cjs) file.\n\nFrom ESLint v9.0.0, the default configuration file is now eslint.config.js.",
		},
	}
}

// versionsInstalledInTurn installs an older and a newer version of one package in turn; each breaks another part of the program.
func versionsInstalledInTurn(p *generator) (entries []entry, _ int) {
	run, s, first := p.waitingShell(), p.swap(), p.IntN(2)
	w := wording{
		[]string{"The version does not fit. Let me install another one.", "Let me pin this package."},
		[]string{"Now the other import fails.", "This version is wrong for the other package.", "That broke the other one.", "Another error, again about the version.", ""},
		[]string{"Let me install the other version.", "I'll pin it to the version that this one needs.", "Let me go to the other release.", "Let me change the version.", "Perhaps the install was not clean. I'll switch the version again."},
	}
	for k := range 2 * p.pickInt(3, 3, 4, 4, 5, 6, 8) {
		n := (first + k) % 2
		entries = append(entries, run(p.pick(s.installs[n]...), s.printed(n), 0).after(w.of(p, k)), run(s.check[n], s.fails[n], 1).after(thought{"", p.pick("Try it again.", "Let me run it.", "Does it start now?", "Let me check.")}))
	}
	return entries, 4
}
