package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that set up machines, clusters and pipelines.

func provisionLoops() []kind {
	return []kind{
		{name: "namespace_stays_terminating", build: namespaceStaysTerminating},
		{name: "port_opened_again_without_answer", build: portOpenedAgainWithoutAnswer},
		{name: "device_login_never_completed", build: deviceLoginNeverCompleted},
		{name: "environment_recreated_again", build: environmentRecreatedAgain},
	}
}

// waitingShell returns a shell for commands that take a minute: it does not tell how long they took.
func (p *generator) waitingShell() func(command, output string, status int) entry {
	if p.IntN(4) == 0 {
		return console{p, 2}.run
	}
	return p.patientShell()
}

// namespaceStaysTerminating deletes an object of Kubernetes that waits for a finalizer, in every way but that of its finalizer.
func namespaceStaysTerminating(p *generator) (entries []entry, _ int) {
	run, name, days := p.waitingShell(), p.word()+p.pick("-dev", "-preview", "-e2e", "-old"), p.between(3, 300)
	o := []struct{ short, full, name, status string }{
		{"ns", "namespace", name, "NAME%sSTATUS        AGE\n%s   Terminating   %s"},
		{"pvc", "persistentvolumeclaim", "data-" + name + "-0", "NAME%sSTATUS        VOLUME                                     CAPACITY   ACCESS MODES   AGE\n%s   Terminating   pvc-" + p.uuid() + "   20Gi       RWO            %s"},
		{"kafkatopic", "kafkatopic.kafka.strimzi.io", p.word() + "." + p.word(), "NAME%sCLUSTER   PARTITIONS   REPLICATION FACTOR   READY   AGE\n%s   main      6            3                    True    %s"},
	}[p.IntN(3)]
	gone := o.full + " \"" + o.name + "\""
	deletes := [][2]string{
		{"kubectl delete " + o.short + " " + o.name + " --timeout=60s", gone + " deleted\nerror: timed out waiting for the condition on " + o.full + "s/" + o.name},
		{"kubectl delete " + o.short + " " + o.name + " --force --grace-period=0", "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.\n" + gone + " force deleted"},
		{"kubectl delete " + o.short + " " + o.name + " --wait=false", gone + " deleted"},
		{"kubectl delete " + o.short + " " + o.name + " --now --timeout=30s", gone + " deleted\nerror: timed out waiting for the condition on " + o.full + "s/" + o.name},
		{"kubectl delete " + o.short + " " + o.name + " --cascade=orphan --wait=false", gone + " deleted"},
		{"timeout 45 kubectl delete " + o.short + " " + o.name, gone + " deleted"},
	}
	if o.short == "ns" {
		deletes = append(deletes, [2]string{"kubectl delete all --all -n " + name, "No resources found"}, [2]string{"kubectl delete pods,svc,deploy,cm,secret --all -n " + name, "No resources found"})
	}
	w := wording{
		[]string{"I'll delete " + o.name + ".", "Let me clean up " + o.name + " first."},
		[]string{"It has not been removed.", "It hangs.", "The object is still there.", "It has not gone away yet.", ""},
		[]string{"Let me force the deletion.", "Let me delete it again.", "I'll try it without waiting.", "Let me try a shorter grace period.", "Let me give it another try.", "I'll delete it with a longer timeout."},
	}
	minutes, fresh := p.between(1, 30), p.coin()
	for k := range p.between(5, 10) {
		d := deletes[p.IntN(len(deletes))]
		if k == 0 {
			d = deletes[0]
		}
		minutes += p.between(1, 4)
		status := 0
		if strings.Contains(d[1], "timed out") {
			status = 1
		}
		age := fmt.Sprintf("%dd", days)
		if fresh {
			age = fmt.Sprintf("%dm", 40+minutes)
		}
		entries = append(entries, run(d[0], d[1], status).after(w.of(p, k)),
			run(p.pick("kubectl get "+o.short+" "+o.name, "sleep 20; kubectl get "+o.short+" "+o.name, "kubectl get "+o.full+" "+o.name), fmt.Sprintf(o.status, strings.Repeat(" ", max(3, len(o.name)-1)), o.name, age), 0).after(thought{"", p.pick("Is it gone?", "Let me check.", "Check the state.", "")}))
	}
	return entries, 2
}

// portOpenedAgainWithoutAnswer opens a port that is open on the machine; the network in front of it lets nothing through.
func portOpenedAgainWithoutAnswer(p *generator) (entries []entry, _ int) {
	run, port, host := p.waitingShell(), p.pickInt(8080, 8443, 3000, 9090, 5432), fmt.Sprintf("203.0.113.%d", p.between(2, 250))
	pid := p.between(700, 40_000)
	f := []struct {
		opens []string
		first string
		again string
		lists string
		shows string
	}{
		{
			[]string{"sudo ufw allow %d/tcp", "sudo ufw allow proto tcp from any to any port %d", "sudo ufw allow in %d/tcp comment 'app'", "sudo ufw allow %d/tcp && sudo ufw reload"},
			"Rule added\nRule added (v6)", "Skipping adding existing rule\nSkipping adding existing rule (v6)",
			"sudo ufw status", "Status: active\n\nTo                         Action      From\n--                         ------      ----\n22/tcp                     ALLOW       Anywhere\n%d/tcp                   ALLOW       Anywhere",
		},
		{
			[]string{"sudo firewall-cmd --add-port=%d/tcp", "sudo firewall-cmd --permanent --add-port=%d/tcp", "sudo firewall-cmd --zone=public --add-port=%d/tcp", "sudo firewall-cmd --zone=public --add-port=%d/tcp --permanent"},
			"success", "Warning: ALREADY_ENABLED: port already in 'public'\nsuccess",
			"sudo firewall-cmd --list-ports", "22/tcp %d/tcp",
		},
		{
			[]string{"sudo nft add rule inet filter input tcp dport %d accept", "sudo nft insert rule inet filter input tcp dport %d accept", "sudo nft add rule inet filter input tcp dport %d ct state new accept"},
			"", "", "sudo nft list chain inet filter input", "table inet filter {\n\tchain input {\n\t\ttype filter hook input priority filter; policy drop;\n\t\tct state established,related accept\n\t\ttcp dport 22 accept\n\t\ttcp dport %d accept\n\t}\n}",
		},
	}[p.IntN(3)]
	w := wording{
		[]string{fmt.Sprintf("Port %d must be open. I'll open it.", port), "Let me open the port in the firewall."},
		[]string{"The connection timed out.", "Still no answer from outside.", "The port is not reachable yet.", "The request does not get through.", ""},
		[]string{"Let me make sure that the firewall allows the port.", "Let me add the rule again.", "Perhaps the rule was not applied. I'll add it once more.", "Let me open the port in another way.", "I'll allow it explicitly."},
	}
	for k := range p.between(5, 9) {
		answer := f.again
		if k == 0 {
			answer = f.first
		}
		seconds := p.pickInt(3, 5, 5, 10)
		entries = append(entries, run(fmt.Sprintf(p.pick(f.opens...), port), answer, 0).after(w.of(p, k)))
		if k > 0 && p.IntN(3) == 0 {
			entries = append(entries, run(f.lists, fmt.Sprintf(f.shows, port), 0).after(thought{"", p.pick("Let me look at the rules.", "Is the rule there?")}))
		}
		if k > 0 && p.IntN(4) == 0 {
			entries = append(entries, run(fmt.Sprintf("ss -ltnp | grep %d", port), fmt.Sprintf("LISTEN 0      511          0.0.0.0:%d       0.0.0.0:*    users:((\"node\",pid=%d,fd=18))", port, pid), 0).after(thought{"", p.pick("Is the server listening?", "Let me check the socket.")}))
		}
		entries = append(entries, run(fmt.Sprintf("curl -sS -m %d -o /dev/null -w '%%{http_code}' http://%s:%d/", seconds, host, port), fmt.Sprintf("curl: (28) Connection timed out after %d milliseconds\n000", 1000*seconds+p.between(0, 4)), 28).after(thought{"", p.pick("Now test it from outside.", "Let me test the connection.", "Does it answer now?")}))
	}
	return entries, 2
}

// deviceLoginNeverCompleted starts a login that a person has to complete, and finds that nobody has.
func deviceLoginNeverCompleted(p *generator) (entries []entry, _ int) {
	run, account := p.waitingShell(), p.word()+"-"+p.pick("prod", "dev", "shared")
	code := func() string {
		text := ""
		for k := range 9 {
			if k == 4 {
				text += "-"
				continue
			}
			text += string("BCDFGHJKLMNPQRSTVWXZ"[p.IntN(20)])
		}
		return text
	}
	l := []struct {
		logins []string
		prints string
		checks []string
		says   string
	}{
		{
			[]string{"aws sso login --profile " + account, "aws sso login --profile " + account + " --no-browser", "aws sso login --profile " + account + " --use-device-code", "timeout 60 aws sso login --profile " + account},
			"Attempting to automatically open the SSO authorization page in your default browser.\nIf the browser does not open or you wish to use a different device to authorize this request, open the following URL:\n\nhttps://device.sso.eu-west-1.example.com/\n\nThen enter the code:\n\n%s\n",
			[]string{"aws sts get-caller-identity --profile " + account, "aws s3 ls --profile " + account},
			"\nThe SSO session associated with this profile has expired or is otherwise invalid. To refresh this SSO session run aws sso login with the corresponding profile.",
		},
		{
			[]string{"az login --use-device-code", "az login --use-device-code --tenant " + account + ".example", "timeout 90 az login --use-device-code", "az login --use-device-code --allow-no-subscriptions"},
			"To sign in, use a web browser to open the page https://microsoft.example/devicelogin and enter the code %s to authenticate.",
			[]string{"az account show", "az group list -o table"},
			"ERROR: Please run 'az login' to setup account.",
		},
		{
			[]string{"gh auth login --web --git-protocol https", "gh auth login -h github.example -w", "echo Y | gh auth login --web", "timeout 60 gh auth login --web --skip-ssh-key"},
			"! First copy your one-time code: %s\nOpen this URL to continue in your web browser: https://github.example/login/device",
			[]string{"gh auth status", "gh pr list --limit 1"},
			"You are not logged into any GitHub hosts. To log in, run: gh auth login",
		},
	}[p.IntN(3)]
	w := wording{
		[]string{"I need to log in first.", "The credentials are missing. Let me log in."},
		[]string{"The session is still not valid.", "The login has not taken effect.", "Not logged in yet.", "The login did not complete.", ""},
		[]string{"Let me log in again.", "I'll start the login once more.", "Let me try the login with other options.", "Let me request a new code."},
	}
	for k := range p.between(3, 5) {
		entries = append(entries, run(p.pick(l.logins...), fmt.Sprintf(l.prints, code()), p.pickInt(124, 1)).after(w.of(p, k)),
			run(p.pick(l.checks...), l.says, 255).after(thought{"", p.pick("Let me check whether I am logged in.", "Now the identity should be there.", "Let me verify the login.", "")}))
	}
	return entries, 2
}

// teardown is an environment that is made anew from scratch: the commands, and what they print.
type teardown struct {
	destroy, create, check string
	fails                  string
	built, status          int // exit statuses of the creation and of the check
	destroyed, created     func() string
}

func (p *generator) teardown() teardown {
	app, services := p.workload(), p.distinctWords(p.between(2, 5))
	list := func(format, end string) func() string {
		return func() string {
			text := ""
			for k, name := range services {
				text += fmt.Sprintf(format, app, name, k+1, p.between(1, 12), p.IntN(10), p.Uint64N(1<<48))
			}
			return text + end
		}
	}
	switch p.IntN(3) {
	case 0:
		steps := func() string {
			text := fmt.Sprintf("[+] Building %d.%ds (%d/%d) FINISHED\n", p.between(20, 200), p.IntN(10), 5*len(services), 5*len(services))
			for _, name := range services {
				text += fmt.Sprintf(" => [%s internal] load build definition from Dockerfile  0.0s\n => [%s 1/4] FROM docker.io/library/node:20-alpine@sha256:%016x  %d.%ds\n => [%s 2/4] COPY package*.json ./  0.%ds\n => [%s 3/4] RUN npm ci  %d.%ds\n => exporting to image sha256:%016x  %d.%ds\n", name, name, p.Uint64(), p.IntN(5), p.IntN(10), name, p.IntN(10), name, p.between(9, 60), p.IntN(10), p.Uint64(), p.IntN(4), p.IntN(10))
			}
			return text + list(" ✔ Container %[1]s-%[2]s-1  Started  %[4]d.%[5]ds\n", "")()
		}
		return teardown{
			"docker compose down -v --remove-orphans", "docker compose build --no-cache && docker compose up -d", "curl -sS -i localhost:" + fmt.Sprint(p.pickInt(80, 8080, 8000)) + "/health",
			"HTTP/1.1 502 Bad Gateway\nServer: nginx/1.27.4\nContent-Type: text/html\n\n<html><head><title>502 Bad Gateway</title></head></html>", 0, 0,
			list(" ✔ Container %[1]s-%[2]s-1  Removed  %[4]d.%[5]ds\n", " ✔ Network "+app+"_default  Removed  0.3s"), steps,
		}
	case 1:
		return teardown{
			"kind delete cluster --name " + app, "kind create cluster --name " + app + " --config kind.yaml && helm install " + app + " ./chart --wait --timeout 3m", "kubectl get pods -l app=" + app,
			"NAME                     READY   STATUS                  RESTARTS   AGE\n" + app + "-0   0/1     Init:ImagePullBackOff   0          3m", 1, 0,
			func() string {
				return "Deleting cluster \"" + app + "\" ...\nDeleted nodes: [\"" + app + "-control-plane\"]"
			},
			func() string {
				return "Creating cluster \"" + app + "\" ...\n ✓ Ensuring node image (kindest/node:v1.33.1) 🖼\n ✓ Preparing nodes 📦\n ✓ Writing configuration 📜\n ✓ Starting control-plane 🕹️\n ✓ Installing CNI 🔌\n ✓ Installing StorageClass 💾\nSet kubectl context to \"kind-" + app + "\"\nYou can now use your cluster with:\n\nkubectl cluster-info --context kind-" + app + fmt.Sprintf("\nI1123 %02d:%02d:%02d.%06d   %d wait.go:104] waiting for resources", p.IntN(24), p.IntN(60), p.IntN(60), p.IntN(1e6), p.between(900, 90_000)) + "\nError: INSTALLATION FAILED: context deadline exceeded"
			},
		}
	}
	return teardown{
		"vagrant destroy -f", "vagrant up --provision", "vagrant ssh -c 'systemctl is-active " + app + "; sudo journalctl -u " + app + " -n 1 --no-pager -o cat'",
		"failed\n" + p.pick("exec: /opt/"+app+"/bin/start: Permission denied", "could not open /etc/"+app+"/license.key: No such file or directory", "bind: cannot assign requested address"), 0, 3,
		func() string {
			return "==> default: Forcing shutdown of VM...\n==> default: Destroying VM and associated drives..."
		},
		func() string {
			return fmt.Sprintf("Bringing machine 'default' up with 'virtualbox' provider...\n==> default: Importing base box 'debian/bookworm64'...\n==> default: Setting the name of the VM: %s_default_%d\n    default: SSH address: 127.0.0.1:%d\n==> default: Machine booted and ready!\n==> default: Running provisioner: shell...\n", app, p.between(1e12, 9e12), p.between(2200, 2250)) + list("    default: Setting up %[2]s (1.%[3]d-2) ...\n", "    default: Created symlink /etc/systemd/system/multi-user.target.wants/"+app+".service.")()
		},
	}
}

// environmentRecreatedAgain takes an environment down and makes it anew from scratch; the check ends as before.
func environmentRecreatedAgain(p *generator) (entries []entry, _ int) {
	run, t := p.waitingShell(), p.teardown()
	w := wording{
		[]string{"Something is broken in there. I'll start from a clean state.", "Let me tear it all down and build it anew."},
		[]string{"It fails in the same way.", "The same result with a fresh environment.", "Still broken.", "Hmm, that did not help.", ""},
		[]string{"Perhaps something stale was left. Let me start from scratch.", "Let me recreate the environment cleanly.", "I'll remove everything and start over.", "Let me do a full clean rebuild.", "Let me reset it once more."},
	}
	for k := range p.between(3, 6) {
		entries = append(entries, run(t.destroy, t.destroyed(), 0).after(w.of(p, k)),
			run(t.create, t.created(), t.built).after(thought{"", p.pick("Now build it again.", "Bring it up.", "")}),
			run(t.check, t.fails, t.status).after(thought{"", p.pick("Let me see whether it works now.", "Is it healthy?", "Let me check.")}))
	}
	return entries, 3
}
