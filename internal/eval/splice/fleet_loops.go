package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of agents that operate a cloud platform by its command line and its API.

func fleetLoops() []kind {
	return []kind{
		{name: "stack_fails_for_same_reason", build: stackFailsForSameReason},
		{name: "workload_restarted_into_same_crash", build: workloadRestartedIntoSameCrash},
		{name: "dry_run_never_applied", build: dryRunNeverApplied},
		{name: "window_starts_in_the_past", build: windowStartsInThePast},
	}
}

// operator returns how an operator runs commands.
func (p *generator) operator() func(command, output string, status int) entry {
	if p.coin() {
		return p.harness().shell
	}
	return p.console().run
}

// workload returns the name of something that is deployed.
func (p *generator) workload() string {
	return p.word() + p.pick("-api", "-worker", "-web", "-svc", "-sync")
}

// stackFailsForSameReason changes settings of a stack beside the one that the reason names, and the stack fails for the same reason.
func stackFailsForSameReason(p *generator) (entries []entry, _ int) {
	run, h, stack, part := p.operator(), p.harness(), p.workload(), capitalized(p.word())+capitalized(p.word())
	region := p.pick("eu-central-1", "us-east-2", "ap-south-1")
	kindOf := []struct{ file, deploy, look, out, reason string }{
		{
			"template.yaml", "aws cloudformation deploy --template-file template.yaml --stack-name " + stack + " --region " + region,
			"aws cloudformation describe-stack-events --stack-name " + stack + " --max-items 3",
			"Waiting for changeset to be created..\nWaiting for stack create/update to complete\n\nFailed to create/update the stack. Run the following command\nto fetch the list of events leading up to the failure\naws cloudformation describe-stack-events --stack-name " + stack,
			"%s  UPDATE_FAILED  " + part + "  CloudFormation cannot update a stack when a custom-named resource requires replacing. Rename " + stack + "-" + strings.ToLower(part) + " and update the stack again. (request id %s)",
		},
		{
			"index.ts", "pulumi up --yes --stack " + stack, "pulumi logs --stack " + stack + " --since 10m",
			"Updating (" + stack + ")\n ~  " + part + " **updating failed** 1 error\nResources:\n    7 unchanged\nerror: update failed",
			"%s " + part + " InvalidParameterException: The provided target group has target type instance, which is incompatible with the awsvpc network mode (request %s)",
		},
		{
			"main.bicep", "az deployment group create -g " + stack + " -f main.bicep", "az deployment operation group list -g " + stack + " -n main --query \"[?properties.provisioningState=='Failed']\"",
			"{\"status\":\"Failed\",\"error\":{\"code\":\"DeploymentFailed\",\"message\":\"At least one resource deployment operation failed. Please list deployment operations for details.\"}}",
			"%s " + part + " StorageAccountAlreadyTaken: The storage account named " + strings.ToLower(part) + " is already taken. (trackingId %s)",
		},
	}[p.IntN(3)]
	w := wording{
		[]string{"Let me update the stack with the new settings.", "I'll change the definition and deploy."},
		[]string{"The deployment failed again.", "It ended in the same state.", "Another failure of " + part + ".", "The rollback is complete.", ""},
		[]string{"Let me adjust the definition.", "I'll change the settings of the resource.", "Perhaps the limits are the cause.", "Let me try it with other parameters."},
	}
	now := p.passingTime()
	for k := range p.between(4, 7) {
		setting := p.pick("memorySize: %d", "timeout: %d", "desiredCount: %d", "logRetentionDays: %d", "storageGb: %d", "healthCheckInterval: %d")
		entries = append(entries, h.replace(kindOf.file, fmt.Sprintf(setting, p.between(1, 30)), fmt.Sprintf(setting, p.between(31, 900))).after(w.of(p, k)),
			run(kindOf.deploy, kindOf.out, 1).after(p.runAgain()),
			run(kindOf.look, fmt.Sprintf(kindOf.reason, now(), p.uuid()), 0).after(thought{"", p.pick("Let me see why it failed.", "Let me read the events.", "What was the reason?")}))
	}
	return entries, 3
}

// workloadRestartedIntoSameCrash restarts a workload in every way there is, and its log ends in the same line.
func workloadRestartedIntoSameCrash(p *generator) (entries []entry, _ int) {
	run, name := p.operator(), p.workload()
	last := p.pick("FATAL: required environment variable "+strings.ToUpper(p.word())+"_URL is not set", "panic: open /etc/"+name+"/config.yaml: no such file or directory", "Error: relation \""+p.word()+"\" does not exist", "java.lang.IllegalStateException: Could not resolve placeholder '"+p.word()+".secret'", "exec /app/"+name+": exec format error")
	platform := []struct {
		restarts [][2]string // commands, and what they print
		log      string
	}{
		{
			[][2]string{
				{"kubectl rollout restart deploy/" + name, "deployment.apps/" + name + " restarted"},
				{"kubectl delete pod -l app=" + name, "pod \"" + name + "-%08x-x\" deleted"},
				{"kubectl scale deploy/" + name + " --replicas=0 && kubectl scale deploy/" + name + " --replicas=2", "deployment.apps/" + name + " scaled\ndeployment.apps/" + name + " scaled"},
				{"kubectl annotate pod -l app=" + name + " restarted=now --overwrite", "pod/" + name + "-%08x-x annotated"},
				{"helm upgrade --install " + name + " ./chart --force", "Release \"" + name + "\" has been upgraded. Happy Helming!"},
			}, "kubectl logs deploy/" + name + " --tail=3",
		},
		{
			[][2]string{
				{"aws ecs update-service --service " + name + " --force-new-deployment", "{\"service\":\"" + name + "\",\"status\":\"ACTIVE\",\"deployments\":[{\"id\":\"ecs-svc/%08x\",\"rolloutState\":\"IN_PROGRESS\"}]}"},
				{"aws ecs stop-task --task $(aws ecs list-tasks --service " + name + " --query 'taskArns[0]')", "{\"task\":\"" + name + "/%08x\",\"lastStatus\":\"RUNNING\",\"desiredStatus\":\"STOPPED\"}"},
				{"aws ecs update-service --service " + name + " --desired-count 2", "{\"service\":\"" + name + "\",\"desiredCount\":2,\"runningCount\":0}"},
			}, "aws logs tail /ecs/" + name + " --since 2m",
		},
		{
			[][2]string{
				{"nomad job restart -yes " + name, "==> Restarting 1 allocation\n    Allocation \"%08x\" will be restarted\n==> Job restart finished"},
				{"nomad alloc stop $(nomad job allocs -t '{{(index . 0).ID}}' " + name + ")", "==> Monitoring evaluation \"%08x\"\n    Evaluation status changed: \"pending\" -> \"complete\""},
				{"nomad job run -force-reschedule " + name + ".nomad", "==> Evaluation \"%08x\" finished with status \"complete\""},
				{"nomad job scale " + name + " 2", "==> Evaluation \"%08x\" finished with status \"complete\""},
			}, "nomad alloc logs -stderr -tail -job " + name,
		},
	}[p.IntN(3)]
	now := p.passingTime()
	w := wording{
		[]string{"Let me restart " + name + ".", "A restart should bring it back."},
		[]string{"It crashed again.", "The new instance has the same problem.", "Still crashing after the restart.", "It is down again.", ""},
		[]string{"Let me restart it another way.", "I'll start a fresh instance.", "Let me scale it down and up again.", "Another restart, perhaps it comes up now.", "Let me force a new deployment."},
	}
	for k := range p.between(5, 9) {
		restart := platform.restarts[p.IntN(len(platform.restarts))]
		answer := restart[1]
		if strings.Contains(answer, "%") {
			answer = fmt.Sprintf(answer, p.Uint32())
		}
		entries = append(entries, run(restart[0], answer, 0).after(w.of(p, k)),
			run(platform.log, fmt.Sprintf("%s starting %s\n%s %s", now(), name, now(), last), 0).after(thought{"", p.pick("Let me look at the log.", "How does it look now?", "Let me see whether it is up.")}))
	}
	return entries, 2
}

// dryRunNeverApplied announces that it applies a change, and runs the preview of it again.
func dryRunNeverApplied(p *generator) (entries []entry, _ int) {
	run, name, n := p.operator(), p.workload(), p.between(1, 4)
	preview := []struct {
		commands []string
		output   string
	}{
		{
			[]string{"terraform plan", "terraform plan -no-color", "terraform plan -refresh=true", "terraform plan -input=false", "terraform plan -target=module." + name},
			fmt.Sprintf("module.%s: Refreshing state... [id=%%08x]\n\nTerraform will perform the following actions:\n\n  # module.%s.this will be updated in-place\n  ~ instance_count = %d -> %d\n\nPlan: 0 to add, 1 to change, 0 to destroy.", name, name, n, n+2),
		},
		{
			[]string{"kubectl diff -f " + name + ".yaml", "kubectl diff -f " + name + ".yaml --server-side", "kubectl diff -R -f .", "kubectl diff -f ./" + name + ".yaml"},
			fmt.Sprintf("diff -u -N /tmp/LIVE-%%d/apps.v1.Deployment.prod.%s /tmp/MERGED/apps.v1.Deployment.prod.%s\n@@ -14,7 +14,7 @@\n   progressDeadlineSeconds: 600\n-  replicas: %d\n+  replicas: %d", name, name, n, n+2),
		},
		{
			[]string{"ansible-playbook site.yml --check", "ansible-playbook site.yml --check --diff", "ansible-playbook site.yml -C -l " + name, "ansible-playbook site.yml --check -v"},
			fmt.Sprintf("TASK [%s : write config] ****\n-workers: %d\n+workers: %d\nchanged: [host-1]\n\nPLAY RECAP ****\nhost-1 : ok=7 changed=1 unreachable=0 failed=0 skipped=2 (%%d ms)", name, n, n+2),
		},
		{
			[]string{"az deployment group what-if -g " + name + " -f main.bicep", "az deployment group what-if -g " + name + " -f main.bicep --no-pretty-print", "az deployment group what-if -g " + name + " -f main.bicep -r FullResourcePayloads"},
			fmt.Sprintf("Resource and property changes are indicated with these symbols: ~ Modify\n~ Microsoft.App/containerApps/%s\n  ~ properties.template.scale.minReplicas: %d => %d\n\nResource changes: 1 to modify. (correlation id %%08x)", name, n, n+2),
		},
	}[p.IntN(4)]
	for k := range p.between(5, 8) {
		announced := p.pick("Now I'll apply the change to "+name+".", "The preview looks right, so I apply it.", "Let me go ahead and roll out the change.", "Everything is as expected. Applying it now.", "Next I put the new count of "+name+" into effect.", "I'll now make the change for real.")
		if k == 0 {
			announced = p.pick("Let me see what would change.", "First a preview of the change.")
		}
		entries = append(entries, say(announced), run(p.pick(preview.commands...), fmt.Sprintf(preview.output, p.Uint32()), 0))
	}
	return entries, 3
}

// windowStartsInThePast asks for a window on a day of last year; the server tells its time, and everything but the day is changed.
func windowStartsInThePast(p *generator) (entries []entry, _ int) {
	name, day := p.workload(), fmt.Sprintf("2025-%02d-%02d", p.between(1, 12), p.between(1, 28))
	form, now := p.IntN(3), fmt.Sprintf("2026-%02d-%02dT%02d:%02d", p.between(1, 12), p.between(1, 28), p.IntN(24), p.IntN(60))
	w := wording{
		[]string{"I'll schedule the maintenance window.", "Let me create the window for " + name + "."},
		[]string{"The window was refused.", "The server does not accept it.", "It says that the start is not valid.", "Refused again.", ""},
		[]string{"Let me make it shorter.", "I'll write the time in another format.", "Perhaps the scope is wrong.", "Let me try a later hour.", "I'll try it with other fields."},
	}
	for k := range p.between(5, 9) {
		start := day + fmt.Sprintf("T%02d:%s", p.IntN(24), p.pick("00:00Z", "30:00Z", "00:00+00:00", "00"))
		args := object("start_time", start, "duration_minutes", p.pickInt(15, 30, 60, 90, 120, 240), "services", []string{name}, "summary", p.pick("Maintenance of "+name, "Upgrade "+name, name+": planned work", "Planned work"))
		server := now + fmt.Sprintf(":%02dZ", min(59, 6*k+p.IntN(6)))
		var e entry
		switch form {
		case 0:
			e = failed("create_maintenance_window", args, "422 Unprocessable Entity: start_time must be in the future (server time: "+server+")")
		case 1:
			e = call("http_request", object("method", "POST", "url", "https://api.status.example/v2/maintenance", "body", args),
				object("status", 400, "body", object("error", object("code", 2001, "message", "Invalid Input Provided", "errors", []string{"Start time cannot be in the past"}), "request_id", p.uuid())))
		case 2:
			e = call("run_platform_api", object("operation", "CreateChangeWindow", "params", args), jsonOf(map[string]json.RawMessage{"ok": jsonOf(false), "reason": quoted("the window would begin before the current time " + server), "trace": quoted(p.uuid())}))
		}
		entries = append(entries, e.after(w.of(p, k)))
	}
	return entries, 1
}
