package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that write infrastructure as code and apply it.

func infrastructureLoops() []kind {
	return []kind{
		{name: "session_token_expired_everywhere", build: sessionTokenExpiredEverywhere},
		{name: "keys_unknown_until_apply", build: keysUnknownUntilApply},
		{name: "state_removed_and_imported", build: stateRemovedAndImported},
		{name: "no_hosts_matched", build: noHostsMatched},
	}
}

// cloudLogin is the command line of a cloud whose login has expired.
type cloudLogin struct {
	calls   [][2]string // commands, and what the refusal needs of each
	refusal func(part string) string
	look    [2]string // a command that shows the login as it is configured, and its output
}

func (p *generator) cloudLogin() cloudLogin {
	name, account, now, issued := p.workload(), fmt.Sprint(p.between(1e11, 9e11)), p.passingTime(), p.day(1, 2)
	switch p.IntN(3) {
	case 0:
		profile := p.pick("default", "prod", "staging", name)
		return cloudLogin{
			[][2]string{
				{"aws sts get-caller-identity", "GetCallerIdentity"},
				{"aws s3 ls", "ListBuckets"},
				{"aws ec2 describe-vpcs --region eu-west-1", "DescribeVpcs"},
				{"aws eks update-kubeconfig --name " + name, "DescribeCluster"},
				{"AWS_PROFILE=" + profile + " aws sts get-caller-identity", "GetCallerIdentity"},
				{"aws --profile " + profile + " s3 ls s3://" + name + "-tfstate", "ListObjectsV2"},
				{"aws sts get-session-token", "GetSessionToken"},
				{"aws ecr get-login-password --region us-east-1", "GetAuthorizationToken"},
				{"aws iam list-account-aliases", "ListAccountAliases"},
				{"terraform init -reconfigure", "terraform"},
				{"terraform plan -input=false", "terraform"},
			},
			func(part string) string {
				if part == "terraform" {
					return fmt.Sprintf("╷\n│ Error: error configuring S3 Backend: error validating provider credentials: error calling sts:GetCallerIdentity: operation error STS: GetCallerIdentity, https response error StatusCode: 403, RequestID: %s, api error ExpiredToken: The security token included in the request is expired\n│ \n│   with provider[\"registry.terraform.io/hashicorp/aws\"],\n│   on providers.tf line 1, in provider \"aws\":\n│    1: provider \"aws\" {\n╵", p.uuid())
				}
				return "\nAn error occurred (ExpiredToken) when calling the " + part + " operation: The security token included in the request is expired"
			},
			[2]string{"aws configure list", "      Name                    Value             Type    Location\n      ----                    -----             ----    --------\n   profile                " + profile + "           manual    --profile\naccess_key     ****************" + strings.ToUpper(p.uuid()[:4]) + "              env\nsecret_key     ****************" + p.uuid()[:4] + "              env\n    region                eu-west-1      config-file    ~/.aws/config"},
		}
	case 1:
		return cloudLogin{
			[][2]string{
				{"gcloud projects list", "projects.list"},
				{"gcloud container clusters get-credentials " + name + " --region europe-west1", "container.clusters.get-credentials"},
				{"gcloud storage ls", "storage.ls"},
				{"gcloud compute instances list", "compute.instances.list"},
				{"gcloud auth print-access-token", "auth.print-access-token"},
				{"gcloud config set project " + name + " && gcloud services list", "services.list"},
				{"gcloud dns managed-zones list --format=json", "dns.managed-zones.list"},
				{"gcloud auth application-default print-access-token", "auth.application-default.print-access-token"},
				{"gcloud run services describe " + name, "run.services.describe"},
			},
			func(part string) string {
				return "ERROR: (gcloud." + part + ") There was a problem refreshing your current auth tokens: Reauthentication failed. cannot prompt during non-interactive execution.\nPlease run:\n\n  $ gcloud auth login\n\nto obtain new credentials.\n\nIf you have already logged in with a different account, run:\n\n  $ gcloud config set account ACCOUNT\n\nto select an already authenticated account to use."
			},
			[2]string{"gcloud auth list", "   Credentialed Accounts\nACTIVE  ACCOUNT\n*       deploy@" + name + ".iam.example\n\nTo set the active account, run:\n    $ gcloud config set account `ACCOUNT`"},
		}
	}
	return cloudLogin{
		[][2]string{
			{"az group list -o table", ""}, {"az account get-access-token", ""}, {"az aks get-credentials -g " + name + " -n " + name, ""}, {"az storage account list", ""}, {"az account set -s " + account + " && az group show -n " + name, ""}, {"az acr login -n " + strings.ReplaceAll(name, "-", ""), ""}, {"az keyvault list", ""}, {"az network dns zone list -o json", ""}, {"az resource list --tag app=" + name, ""},
		},
		func(string) string {
			return fmt.Sprintf("AADSTS700082: The refresh token has expired due to inactivity. The token was issued on %s and was inactive for 90.00:00:00. Trace ID: %s Correlation ID: %s Timestamp: %s\nInteractive authentication is needed. Please run:\naz logout\naz login", issued+"T08:11:02.0000000Z", p.uuid(), p.uuid(), now())
		},
		[2]string{"az account show", "{\n  \"environmentName\": \"AzureCloud\",\n  \"id\": \"" + account + "\",\n  \"isDefault\": true,\n  \"name\": \"" + name + "\",\n  \"state\": \"Enabled\",\n  \"user\": {\n    \"name\": \"deploy@" + name + ".example\",\n    \"type\": \"user\"\n  }\n}"},
	}
}

// sessionTokenExpiredEverywhere asks a cloud by command after command, and each one says that the login has expired.
func sessionTokenExpiredEverywhere(p *generator) (entries []entry, _ int) {
	run, c := p.waitingShell(), p.cloudLogin()
	w := wording{
		[]string{"Let me see what is deployed.", "I'll look at the account first."},
		[]string{"The token has expired.", "Expired credentials again.", "That one needs a valid login too.", "Authentication failed.", "Same authentication error.", ""},
		[]string{"Let me try another service.", "Maybe it works with the profile set.", "Let me check the identity.", "I'll try it another way.", "Let me see whether this command works.", "Let me try again."},
	}
	last := -1
	for k := range p.repeats() {
		if k > 1 && p.IntN(5) == 0 {
			entries = append(entries, run(c.look[0], c.look[1], 0).after(thought{"", p.pick("How is the login configured?", "Let me check the configuration.", "Which account is active?")}))
		}
		next := p.IntN(len(c.calls))
		for next == last {
			next = p.IntN(len(c.calls))
		}
		entries, last = append(entries, run(c.calls[next][0], c.refusal(c.calls[next][1]), p.pickInt(1, 1, 255)).after(w.of(p, k))), next
	}
	return entries, 1
}

// unknownKeys is a resource whose number depends on what another resource is given when it is applied.
type unknownKeys struct {
	file, resource, source string
	tool                   string
}

// refusal returns the error of an argument, as the plan prints it.
func (u unknownKeys) refusal(argument, line string, at int) string {
	text := fmt.Sprintf("╷\n│ Error: Invalid %[1]s argument\n│ \n│   on %[2]s line %[3]d, in resource \"%[4]s\" \"this\":\n│   %[3]d: %[5]s\n", argument, u.file, at, u.resource, line)
	if argument == "count" {
		return text + "│ \n│ The \"count\" value depends on resource attributes that cannot be determined until apply, so " + u.tool + " cannot predict how many instances will be created. To work around this, use the -target argument to first apply only the resources that the count depends on.\n╵"
	}
	return text + "│     ├────────────────\n│     │ " + u.source + " will be known only after apply\n│ \n│ The \"for_each\" set includes values derived from resource attributes that cannot be determined until apply, and so " + u.tool + " cannot determine the full set of keys that will identify the instances of this resource.\n│ \n│ When working with unknown values in for_each, it's better to use a map value where the keys are defined statically in your configuration and where only the values contain apply-time results.\n│ \n│ Alternatively, you could use the -target planning option to first apply only the resources that the for_each value depends on, and then apply a second time to fully converge.\n╵"
}

// keysUnknownUntilApply swaps for_each and count on one resource; each of them needs values that only an apply brings.
func keysUnknownUntilApply(p *generator) (entries []entry, _ int) {
	h, name := p.harness(), p.word()
	pair := [][2]string{{"aws_route_table_association", "aws_subnet"}, {"aws_iam_role_policy_attachment", "aws_iam_policy"}, {"google_compute_instance_group_membership", "google_compute_instance"}, {"azurerm_role_assignment", "azurerm_user_assigned_identity"}, {"aws_lb_target_group_attachment", "aws_instance"}}[p.IntN(5)]
	u := unknownKeys{p.pick("main.tf", "network.tf", "modules/"+name+"/main.tf"), pair[0], p.pick("module."+name+"."+pair[1]+"s", pair[1]+"."+name), p.pick("Terraform", "Terraform", "OpenTofu")}
	program := map[string]string{"Terraform": "terraform", "OpenTofu": "tofu"}[u.tool]
	command := program + p.pick(" plan", " plan -no-color -input=false", " validate -no-color && "+program+" plan", " plan -out=tfplan")
	each := []string{"  for_each = toset(" + u.source + "[*].id)", "  for_each = { for s in " + u.source + " : s.id => s }", "  for_each = toset([for s in " + u.source + " : s.id])", "  for_each = zipmap(" + u.source + "[*].id, " + u.source + "[*].arn)", "  for_each = toset(compact(" + u.source + "[*].id))"}
	count := []string{"  count = length(" + u.source + ")", "  count = length(distinct(" + u.source + "[*].id))", "  count = length(compact(" + u.source + "[*].id))", "  count = length([for s in " + u.source + " : s.id])"}
	w := wording{
		[]string{"I'll create one `" + u.resource + "` for each of them.", "Let me write the resource for all of `" + u.source + "`."},
		[]string{"The keys are not known at plan time.", "The plan cannot tell how many there are.", "The same limitation again.", "It depends on values that are known after apply.", ""},
		[]string{"Let me use `count` and `for_each` differently.", "I'll express it in another way.", "Let me change the meta-argument.", "I'll rewrite the expression.", "Let me try the other form."},
	}
	at, before := p.between(8, 90), "  # one for each of "+u.source
	for k := range 2 * min(p.laps(), 9) {
		argument, lines := "for_each", each
		if k%2 == 1 {
			argument, lines = "count", count
		}
		after := p.pick(lines...)
		entries = append(entries, h.replace(u.file, before, after).after(w.of(p, k)), h.shell(command, u.refusal(argument, after, at), 1).after(p.runAgain()))
		before = after
	}
	return entries, 4
}

// managed is a resource that exists, and whose state a plan wants to replace.
type managed struct{ address, id, exists, forces string }

func (p *generator) managed() managed {
	name, part := p.workload(), p.word()
	return []managed{
		{"aws_s3_bucket." + part, name + "-assets", "creating S3 Bucket (" + name + "-assets): operation error S3: CreateBucket, https response error StatusCode: 409, RequestID: %s, BucketAlreadyOwnedByYou: Your previous request to create the named bucket succeeded and you already own it.", "bucket_prefix = \"" + name + "-\" # forces replacement"},
		{"aws_iam_role." + part, name + "-role", "creating IAM Role (" + name + "-role): operation error IAM: CreateRole, https response error StatusCode: 409, RequestID: %s, EntityAlreadyExists: Role with name " + name + "-role already exists.", "path = \"/\" -> \"/service/\" # forces replacement"},
		{"google_sql_database_instance." + part, "projects/" + name + "/instances/" + part, "Error, failed to create instance " + part + ": googleapi: Error 409: The Cloud SQL instance already exists. (request %s), instanceAlreadyExists", "region = \"europe-west1\" -> \"europe-west3\" # forces replacement"},
		{"azurerm_storage_account." + part, "/subscriptions/" + p.uuid() + "/resourceGroups/" + name + "/providers/Microsoft.Storage/storageAccounts/" + part, "a resource with the ID \"" + part + "\" already exists - to be managed via Terraform this resource needs to be imported into the State (request %s)", "account_kind = \"Storage\" -> \"StorageV2\" # forces replacement"},
		{"aws_cloudwatch_log_group." + part, "/aws/ecs/" + name, "creating CloudWatch Logs Log Group (/aws/ecs/" + name + "): ResourceAlreadyExistsException: The specified log group already exists (RequestID: %s)", "kms_key_id = (known after apply) # forces replacement"},
	}[p.IntN(5)]
}

// stateRemovedAndImported removes a resource from the state because a plan replaces it, and imports it because an apply finds that it exists.
func stateRemovedAndImported(p *generator) (entries []entry, _ int) {
	run, m := p.waitingShell(), p.managed()
	refresh := ""
	for n := range p.between(1, 50) {
		refresh += fmt.Sprintf("module.base.aws_subnet.this[%d]: Refreshing state... [id=subnet-0%08x]\n", n, p.Uint32())
	}
	said := func(texts ...string) thought { return thought{"", p.pick(texts...)} }
	for k := range p.pickInt(3, 3, 4, 5, 5, 6, 6, 7, 9) {
		again := []string{"Let me see the plan.", "First the plan.", "What does the plan say?"}
		if k > 0 {
			again = []string{"It is in the state again. What does the plan say now?", "Imported. Let me plan.", "Let me see whether the plan is clean.", "Now the plan should be empty.", "Let me run the plan."}
		}
		entries = append(
			entries,
			run("terraform plan"+p.pick("", " -no-color", " -input=false"), refresh+"\nTerraform will perform the following actions:\n\n  # "+m.address+" must be replaced\n-/+ resource {\n      ~ id = \""+m.id+"\" -> (known after apply)\n      ~ "+m.forces+"\n    }\n\nPlan: 1 to add, 0 to change, 1 to destroy.", 0).after(said(again...)),
			run("terraform state rm "+m.address, "Removed "+m.address+"\nSuccessfully removed 1 resource instance(s).", 0).after(said("It would destroy the existing one. Let me take it out of the state.", "That must not be replaced. I'll remove it from the state.", "I'll drop it from the state, so that nothing is destroyed.", "Let me remove it from the state.")),
			run("terraform apply -auto-approve"+p.pick("", " -input=false", " -target="+m.address), m.address+": Creating...\n╷\n│ Error: "+fmt.Sprintf(m.exists, p.uuid())+"\n│ \n│   with "+m.address+",\n│   on main.tf line 12\n╵", 1).after(said("Now apply.", "Let me apply the rest.", "Apply it.", "")),
			run("terraform import "+m.address+" "+m.id, m.address+": Importing from ID \""+m.id+"\"...\n"+m.address+": Import prepared!\n  Prepared "+strings.Split(m.address, ".")[0]+" for import\n"+m.address+": Refreshing state... [id="+m.id+"]\n\nImport successful!\n\nThe resources that were imported are shown above. These resources are now in\nyour Terraform state and will henceforth be managed by Terraform.", 0).after(said("It exists already, so I import it.", "It has to be imported.", "Let me import it into the state.", "The resource exists. Import it.")),
		)
	}
	return entries, 4
}

// noHostsMatched runs a playbook on patterns that match no host; each run ends well, and the servers stay as they are.
func noHostsMatched(p *generator) (entries []entry, _ int) {
	run, role, site := p.commands(), p.pick("nginx", "postgresql", "haproxy", "redis", "node_exporter"), p.word()+".example"
	group := p.pick("web", "db", "edge", "app")
	patterns := []string{group, group + "_prod", group + "-prod", group + "*", "prod:&" + group, group + "servers", "prod-" + group, "'" + group + "[0:3]'", "tag_role_" + group, group + ".prod", strings.ToUpper(group)}
	salt := p.IntN(4) == 0
	version, wanted := fmt.Sprintf("1.%d.%d", p.between(10, 20), p.IntN(9)), fmt.Sprintf("1.%d.%d", p.between(21, 29), p.IntN(9))
	look := [][2]string{
		{"curl -sI https://" + site + "/ | grep -i '^server\\|^x-version'", "server: " + role + "/" + version},
		{"curl -s https://" + site + "/version", "{\"version\":\"" + version + "\",\"service\":\"" + role + "\"}"},
	}[p.IntN(2)]
	w := wording{
		[]string{"Let me roll out " + role + " " + wanted + ".", "I'll install the new " + role + "."},
		[]string{"The version is still " + version + ".", "The servers have not changed.", "It ran, but nothing was updated.", "No change on the site.", "It is the old version.", ""},
		[]string{"Let me run it for the right group.", "I'll limit it to other hosts.", "Let me run it once more.", "Perhaps the group has another name.", "I'll try it with another limit."},
	}
	for k := range p.repeats() {
		pattern := p.pick(patterns...)
		command := "ansible-playbook " + role + ".yml -l " + pattern + p.pick("", " -b", " --diff", " -i inventory/prod", " -v", " -e version="+wanted)
		output := "[WARNING]: Could not match supplied host pattern, ignoring: " + strings.Trim(pattern, "'") + "\n\nPLAY [Install " + role + "] " + strings.Repeat("*", 50) + "\nskipping: no hosts matched\n\nPLAY RECAP " + strings.Repeat("*", 60)
		if strings.HasSuffix(command, "-v") {
			output = "Using /srv/infra/ansible.cfg as config file\n" + output
		}
		if salt {
			command, output = "salt -C '"+strings.Trim(pattern, "'")+"' state.apply "+role+p.pick("", " test=False", " --timeout=60", " pillar='{\"version\": \""+wanted+"\"}'"), "No minions matched the target. No command was sent, no jid was assigned."
		}
		entries = append(entries, run(command, output, 0).after(w.of(p, k)),
			run(look[0], look[1], 0).after(thought{"", p.pick("Which version runs now?", "Let me check the site.", "Let me verify the rollout.", "Is it updated?")}))
	}
	return entries, 2
}
