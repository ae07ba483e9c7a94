package mask

// kindsOfCommands are secrets in command lines and in code, and secrets that people tell.
func kindsOfCommands() map[string]string {
	return map[string]string{
		"sshpass":                        "sshpass -p «hunter2» ssh bob@host",
		"docker login":                   "docker login -u bob -p «hunter2» ghcr.io",
		"mysql":                          "mysql -h db -u root -p«hunter2» shop",
		"mysqldump with quotes":          `mysqldump -u root -p'«hunt er2»' shop`,
		"redis-cli":                      "redis-cli -h cache -a «hunter2» ping",
		"ldapsearch":                     "ldapsearch -x -D cn=admin -w «hunter2» -b dc=x",
		"curl -u without a space":        "curl -ubob:«hunter2» https://example.com",
		"curl --proxy-user":              "curl --proxy-user bob:«hunter2» https://example.com",
		"etcdctl":                        "etcdctl --user root:«hunter2» get /",
		"openssl":                        "openssl rsa -in k.pem -passin pass:«hunter2»",
		"cmdkey":                         "cmdkey /add:srv /user:bob /pass:«hunter2»",
		"setx with quotes":               `setx API_KEY "«` + mixed(32) + `»"`,
		"setx":                           "setx API_KEY «" + mixed(32) + "»",
		"keytool":                        "keytool -list -keystore x.jks -storepass «hunter2»",
		"PowerShell":                     "New-LocalUser -Name bob -Password «hunter2!»",
		"a secure string of PowerShell":  `ConvertTo-SecureString "«hunter2»" -AsPlainText -Force`,
		"a password for sudo":            "echo «hunter2» | sudo -S apt update",
		"a password for chpasswd":        "echo 'bob:«hunter2»' | chpasswd",
		"a password for standard input":  `echo "«hunter2»" | docker login -u bob --password-stdin`,
		"a user of PostgreSQL":           "CREATE USER app WITH PASSWORD '«hunter2»';",
		"a user of MySQL":                "CREATE USER 'app'@'%' IDENTIFIED BY '«hunter2»';",
		"a setter":                       `ds.setPassword("«correct horse»");`,
		"a constant of PHP":              `define( 'DB_PASSWORD', '«hunter2»' );`,
		"a default of Python":            `os.environ.setdefault("API_KEY", "«` + mixed(30) + `»")`,
		"a symbol of Ruby":               `config[:password] = "«hunter2»"`,
		"a password that somebody tells": "My password is «hunter2!», and it is mine.",
		"a key that somebody tells":      "The api key is «" + mixed(32) + "».",
		"Passwort":                       "Passwort: «hunter2»",
	}
}

// kindsOfFiles are secrets as files of settings and pages have them.
func kindsOfFiles() map[string]string {
	const rsa, ec = "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVkt" + "LS0tLQpNSUlF", "LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS" + "0tLS0tCk1IY0N"
	return map[string]string{
		"a client's key of Kubernetes":    "    client-key-data: «" + rsa + mixed(700) + "==»\n    tls-server-name: x",
		"a private key in base64":         "TLS_KEY=«" + ec + mixed(200) + "»",
		"a secret of Kubernetes":          "kind: Secret\ndata:\n  password: «aHVudGVyMg==»\n",
		"Docker, in JSON that is cut off": `{"auths": {"ghcr.io": {"auth": "«Ym9iOmhVTlRlbWxhdEZs»"`,
		"blanks in .npmrc":                "_auth = «Ym9iOmh1bnRlcjI=»\n",
		"base64 with one digit in .npmrc": "_auth = «Ym9iOmhVTlRlbWxhdEZs»\n",
		"a token of Azure DevOps":         "AZURE_DEVOPS_EXT_PAT=«" + small(52) + "»",
		"a key of Laravel":                "APP_KEY=base64:«" + mixed(43) + "=»\nAPP_DEBUG=true",
		"a phrase of words":               `MNEMONIC="«legal winner thank year wave sausage»"`,
		"a key of a wireless network":     "network={\n psk=\"«hunter2hunter2»\"\n}",
		"a key of PuTTY":                  "Private-Lines: 1\n«" + mixed(44) + "»\nPrivate-MAC: x",
		"braces in ODBC":                  "Driver={ODBC Driver 18};Uid=app;Pwd={«p@ss;w0rd»};Encrypt=yes",
		"an address of Oracle":            "jdbc:oracle:thin:scott/«t1ger9»@//db:1521/x",
		"settings of .NET":                `<add key="ApiKey" value="«` + mixed(32) + `»" />`,
		"a form":                          `<input name="csrf_token" value="«` + hexed(40) + `»">`,
		"a webhook of Discord":            "https://discord.com/api/webhooks/" + number(18) + "/«" + mixed(68) + "»",
		"a signed address of Amazon":      "https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature=«" + hexed(64) + "»",
		"a signed address of Google":      "https://storage.googleapis.com/b/o?X-Goog-Signature=«" + hexed(256) + "»&x=1",
		"an older signed address":         "https://b.s3.amazonaws.com/k?Expires=1&Signature=«" + mixed(26) + "%3D»",
		"Twitch":                          "oauth:«" + small(30) + "»",
	}
}

// laterKeys are keys of vendors whose form is newer than the rules of gitleaks.
func laterKeys() map[string]string {
	return map[string]string{
		"Langfuse":              "«sk" + "-lf-" + uuid + "»",
		"LangSmith":             "«lsv2" + "_pt_" + hexed(32) + "_" + hexed(10) + "»",
		"Helicone":              "«sk" + "-helicone-" + small(7) + "-" + small(7) + "-" + small(7) + "-" + small(7) + "»",
		"Tavily":                "«tvly" + "-dev-" + mixed(32) + "»",
		"Pinecone":              "«pcsk" + "_" + mixed(5) + "_" + mixed(64) + "»",
		"E2B":                   "«e2b" + "_" + hexed(40) + "»",
		"Firecrawl":             "«fc" + "-" + hexed(32) + "»",
		"Fireworks":             "«fw" + "_" + mixed(24) + "»",
		"Cerebras":              "«csk" + "-" + small(48) + "»",
		"Jina":                  "«jina" + "_" + hexed(32) + mixed(28) + "»",
		"Together":              "«tgp" + "_v1_" + mixed(43) + "»",
		"Fly":                   "«fm2" + "_lJPE" + mixed(100) + "»",
		"Render":                "«rnd" + "_" + mixed(28) + "»",
		"Neon":                  "«napi" + "_" + small(64) + "»",
		"Netlify":               "«nfp" + "_" + mixed(36) + "»",
		"Supabase, of a server": "«sb" + "_secret_" + mixed(22) + "_" + mixed(8) + "»",
		"Apify":                 "«apify" + "_api_" + mixed(36) + "»",
		"MongoDB Atlas":         "«mdb" + "_sa_sk_" + mixed(40) + "»",
		"PostHog":               "«phx" + "_" + mixed(44) + "»",
		"Buildkite":             "«bkua" + "_" + hexed(40) + "»",
		"CircleCI":              "«CCI" + "PAT_" + mixed(22) + "_" + hexed(40) + "»",
		"NuGet":                 "dotnet nuget push x.nupkg -k «oy2" + small(43) + "»",
		"Bitbucket, for an app": "«ATBB" + mixed(32) + "»",
		"Google, a newer key":   "«AQ." + "Ab8RN6" + mixed(44) + "»",
		"Vercel, of a store":    "«vercel" + "_blob_rw_" + mixed(16) + "_" + mixed(30) + "»",
	}
}
