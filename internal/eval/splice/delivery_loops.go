package splice

import (
	"fmt"
	"strings"
	"time"
)

// The loops of this file are those of agents that bring services to a cluster.

func deliveryLoops() []kind {
	return []kind{
		{name: "image_tag_guessed_again", build: imageTagGuessedAgain},
		{name: "pod_pending_whatever_it_requests", build: podPendingWhateverItRequests},
		{name: "clone_meets_existing_folder", build: cloneMeetsExistingFolder},
		{name: "chart_ignores_value", build: chartIgnoresValue},
	}
}

// podName returns a name of a pod of a new replica set.
func (p *generator) podName(service string) string {
	return service + "-" + p.letters(10) + "-" + p.letters(5)
}

// letters returns n of the letters and digits that Kubernetes takes for generated names.
func (p *generator) letters(n int) string {
	const of = "bcdfghjklmnpqrstvwxz2456789"
	text := make([]byte, n)
	for k := range text {
		text[k] = of[p.IntN(len(of))]
	}
	return string(text)
}

// imageTagGuessedAgain guesses tag after tag of an image and never asks the registry which ones there are.
func imageTagGuessedAgain(p *generator) (entries []entry, _ int) {
	run, s, service, space, form := p.waitingShell(), p.secretary(), p.workload(), p.pick("prod", "staging", p.word()), p.IntN(3)
	image := p.pick("ghcr.io/", "registry.gitlab.example/", "europe-docker.pkg.dev/") + p.word() + "/" + service
	major, minor := p.between(1, 6), p.between(0, 30)
	tags := p.shuffled("latest", "stable", "main", "prod", "release", fmt.Sprintf("v%d.%d.0", major, minor), fmt.Sprintf("%d.%d.0", major, minor), fmt.Sprintf("v%d.%d", major, minor), fmt.Sprintf("%d.%d.1", major, minor), fmt.Sprintf("v%d", major), "master", fmt.Sprintf("%d.%d", major, minor+1), p.commitHash()[:7])
	w := wording{
		[]string{"Let me deploy the new image.", "I'll set the image of `" + service + "`."},
		[]string{"The image cannot be pulled.", "This tag does not exist either.", "The pull fails.", "Not found again.", ""},
		[]string{"Let me try another tag.", "Perhaps the tag has another form.", "I'll use a different tag.", "It is probably tagged otherwise.", "Let me set it to another version."},
	}
	for k := range p.passes() {
		tag := tags[k]
		ref, pod := image+":"+tag, p.podName(service)
		reason := fmt.Sprintf("Failed to pull image \"%s\": rpc error: code = NotFound desc = failed to pull and unpack image \"%[1]s\": failed to resolve reference \"%[1]s\": %[1]s: not found", ref)
		t := thought{"", p.pick("Does it start?", "Let me look at the pod.", "How is the pod?", "")}
		switch form {
		case 0:
			entries = append(entries, run(fmt.Sprintf("kubectl -n %s set image deploy/%s %s=%s", space, service, service, ref), "deployment.apps/"+service+" image updated", 0).after(w.of(p, k)),
				run(fmt.Sprintf("kubectl -n %s describe pod -l app=%s | tail -%d", space, service, p.pickInt(5, 6, 8)), fmt.Sprintf("Events:\n  Type     Reason     Age   From               Message\n  ----     ------     ----  ----               -------\n  Normal   Scheduled  %ds   default-scheduler  Successfully assigned %s/%s to node-%d\n  Normal   Pulling    %[1]ds   kubelet            Pulling image \"%[5]s\"\n  Warning  Failed     %[6]ds   kubelet            %[7]s\n  Warning  Failed     %[6]ds   kubelet            Error: ErrImagePull", p.between(20, 59), space, pod, p.between(1, 9), ref, p.between(10, 19), reason), 0).after(t))
		case 1:
			entries = append(entries, run(fmt.Sprintf("helm upgrade %s ./chart -n %s --reuse-values --set image.tag=%s --wait --timeout %dm", service, space, tag, p.between(1, 5)), "Error: UPGRADE FAILED: context deadline exceeded", 1).after(w.of(p, k)),
				run(fmt.Sprintf("kubectl -n %s get events --field-selector type=Warning --sort-by=.lastTimestamp | tail -1", space), fmt.Sprintf("%ds         Warning   Failed   pod/%s   %s", p.between(3, 50), pod, reason), 0).after(t))
		default:
			entries = append(entries, s.use("kubernetes", "set_image", object("namespace", space, "deployment", service, "image", ref), "deployment.apps/"+service+" image updated").after(w.of(p, k)),
				s.use("kubernetes", "pods_list_in_namespace", object("namespace", space, "labelSelector", "app="+service), fmt.Sprintf("NAME                          READY   STATUS             RESTARTS   AGE\n%s   0/1     %s   0          %ds\nmessage: %s", pod, p.pick("ImagePullBackOff", "ErrImagePull"), p.between(15, 90), reason)).after(t))
		}
	}
	return entries, 2
}

// podPendingWhateverItRequests changes what a pod requests; no node takes it, since its selector and a taint exclude all of them.
func podPendingWhateverItRequests(p *generator) (entries []entry, _ int) {
	run, service, space := p.waitingShell(), p.workload(), p.word()
	nodes, label := p.between(3, 9), p.pick("disktype=ssd", "pool=batch", "accelerator=l4", "zone=eu-1c")
	tainted := p.between(1, nodes-1)
	why := fmt.Sprintf("0/%d nodes are available: %d node(s) had untolerated taint {dedicated: %s}, %d node(s) didn't match Pod's node affinity/selector. preemption: 0/%[1]d nodes are available: %[1]d Preemption is not helpful for scheduling.", nodes, tainted, label[strings.Index(label, "=")+1:], nodes-tainted)
	change := func() (string, string) {
		cpu, memory := fmt.Sprintf("%dm", 50*p.between(1, 12)), fmt.Sprintf("%dMi", 64*p.between(1, 12))
		switch p.IntN(4) {
		case 0:
			return fmt.Sprintf("kubectl -n %s patch deploy %s -p '{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"%[2]s\",\"resources\":{\"requests\":{\"cpu\":\"%s\",\"memory\":\"%s\"}}}]}}}}'", space, service, cpu, memory), "deployment.apps/" + service + " patched"
		case 1:
			return fmt.Sprintf("kubectl -n %s set resources deploy/%s --requests=cpu=%s", space, service, cpu), "deployment.apps/" + service + " resource requirements updated"
		case 2:
			return "kubectl -n " + space + " rollout restart deploy/" + service, "deployment.apps/" + service + " restarted"
		}
		return fmt.Sprintf("kubectl -n %s set resources deploy/%s --requests=cpu=%s,memory=%s --limits=memory=%s", space, service, cpu, memory, memory), "deployment.apps/" + service + " resource requirements updated"
	}
	look := func() (string, string) {
		pod := p.podName(service)
		if p.coin() {
			return fmt.Sprintf("kubectl -n %s get events --field-selector reason=FailedScheduling | tail -1", space), fmt.Sprintf("%ds         Warning   FailedScheduling   pod/%s   %s", p.between(2, 40), pod, why)
		}
		return fmt.Sprintf("kubectl -n %s get pods -l app=%s; kubectl -n %[1]s describe pod -l app=%[2]s | grep -A4 Events", space, service), fmt.Sprintf("NAME   READY   STATUS    RESTARTS   AGE\n%s   0/1     Pending   0          %ds\nEvents:\n  Type     Reason            Age   From               Message\n  ----     ------            ----  ----               -------\n  Warning  FailedScheduling  %[2]ds   default-scheduler  %[3]s", pod, p.between(5, 59), why)
	}
	w := wording{
		[]string{"The pod is pending, so it may request too much. Let me lower that.", "Let me give `" + service + "` smaller requests."},
		[]string{"It is still pending.", "The pod is not scheduled.", "No node takes it yet.", "Still FailedScheduling.", ""},
		[]string{"Let me lower the requests further.", "I'll adjust the resources.", "Let me try other values.", "It may need less memory.", "Let me restart the rollout with other requests."},
	}
	for k := range p.passes() {
		command, output := change()
		shown, events := look()
		entries = append(entries, run(command, output, 0).after(w.of(p, k)), run(shown, events, 0).after(thought{"", p.pick("Is it scheduled now?", "Let me check the pod.", "")}))
	}
	return entries, 2
}

// cloneMeetsExistingFolder clones into a folder that a first clone left behind; what should remove the folder does not.
func cloneMeetsExistingFolder(p *generator) (entries []entry, _ int) {
	run, owner, repo := p.patientShell(), p.word(), p.word()+p.pick("-service", "-charts", "-docs", "")
	url, parts := "https://github.com/"+owner+"/"+repo, p.distinctWords(3)
	fatal := "fatal: destination path '" + repo + "' already exists and is not an empty directory."
	clone := []string{"git clone " + url, "git clone " + url + ".git", "git clone --depth 1 " + url + ".git", "git clone " + url + " " + repo, "git clone --single-branch -b main " + url + ".git", "git clone --filter=blob:none " + url, "git clone --recurse-submodules " + url + ".git"}
	before := [][2]string{
		{"", ""},
		{"", ""},
		{"rmdir " + repo + "; ", "rmdir: failed to remove '" + repo + "': Directory not empty\n"},
		{"rm -f " + repo + "/*; ", "rm: cannot remove '" + repo + "/" + parts[0] + "': Is a directory\nrm: cannot remove '" + repo + "/" + parts[1] + "': Is a directory\n"},
		{": rm -rf " + repo + "; ", ""},
		{"rm -rf " + repo + "/.git && ", ""},
		{"mkdir -p " + repo + " && ", ""},
		{"rm -rf /tmp/" + repo + " && ", ""},
		{"cd . && ", ""},
	}
	w := wording{
		[]string{"Let me clone the repository.", "First I need a fresh checkout of " + repo + "."},
		[]string{"The folder exists.", "The clone failed again.", "It is still there.", "Git does not want that folder.", ""},
		[]string{"Let me clone it again.", "I'll remove the folder and clone.", "Let me clear it first.", "Let me try the clone with other options.", "A fresh clone should work now."},
	}
	last := ""
	for k := range p.attempts() {
		b := before[p.IntN(len(before))]
		if k == 0 {
			b = before[0]
		}
		command := b[0] + p.pick(clone...)
		for command == last {
			command = b[0] + p.pick(clone...)
		}
		last = command
		entries = append(entries, run(command, b[1]+fatal, 128).after(w.of(p, k)))
	}
	return entries, 1
}

// chartIgnoresValue sets a value of a chart under one key after another; none is the chart's own, and the workload stays as it is.
func chartIgnoresValue(p *generator) (entries []entry, _ int) {
	run, service, space, revision, clock := p.waitingShell(), p.workload(), p.word(), p.between(4, 60), p.stopwatch()
	held, want := p.between(1, 3), p.between(4, 9)
	memory, limit := fmt.Sprintf("%dMi", 128*p.between(1, 3)), fmt.Sprintf("%dGi", p.between(1, 4))
	keys, value, path, shown := []string{"replicas", "replicaCount", "deployment.replicas", "app.replicas", "web.replicaCount", "global.replicas", "autoscaling.minReplicas"}, fmt.Sprint(want), "{.spec.replicas}", fmt.Sprint(held)
	if p.coin() {
		keys, value, path, shown = []string{"resources.limits.memory", "limits.memory", "app.resources.limits.memory", "container.resources.limits.memory", "web.limits.memory", "global.resources.limits.memory", "deployment.resources.limits.memory"}, limit, "{.spec.template.spec.containers[0].resources.limits.memory}", memory
	}
	p.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	w := wording{
		[]string{"Let me set `" + keys[0] + "` to " + value + ".", "I'll raise it with an upgrade of the release."},
		[]string{"Still " + shown + ".", "The value was not applied.", "The deployment has the old value.", "The upgrade went through, but nothing changed.", ""},
		[]string{"Let me use another key.", "Perhaps the value is nested otherwise.", "I'll upgrade again.", "Let me set it under a different name.", "Maybe it belongs under another section."},
	}
	flags := p.pick(" --reuse-values", " -f values.yaml", "")
	for k := range p.passes() {
		revision++
		clock.at = clock.at.Add(time.Duration(p.between(20, 200)) * time.Second)
		extra := ""
		if k > 1 {
			extra = p.pick("", "", " --force", " --atomic", " --wait")
		}
		entries = append(entries, run(fmt.Sprintf("helm upgrade %s ./charts/%s -n %s%s --set %s=%s%s", service, service, space, flags, keys[k], value, extra), fmt.Sprintf("Release %q has been upgraded. Happy Helming!\nNAME: %s\nLAST DEPLOYED: %s\nNAMESPACE: %s\nSTATUS: deployed\nREVISION: %d\nTEST SUITE: None", service, service, clock.at.Format(time.ANSIC), space, revision), 0).after(w.of(p, k)),
			run(fmt.Sprintf("kubectl -n %s get deploy %s -o jsonpath='%s'", space, service, path), shown, 0).after(thought{"", p.pick("Did it arrive?", "Let me check the deployment.", "")}))
	}
	return entries, 2
}
