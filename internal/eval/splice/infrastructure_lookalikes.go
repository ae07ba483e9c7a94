package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work at infrastructure: one address, one record, one secret or one certificate after the other.

func infrastructureLookalikes() []kind {
	return []kind{
		{name: "moved_blocks_added_until_plan_empty", build: movedBlocksAddedUntilPlanEmpty},
		{name: "records_copied_to_new_zone", build: recordsCopiedToNewZone},
		{name: "secrets_moved_into_vault", build: secretsMovedIntoVault},
		{name: "expiry_read_at_each_endpoint", build: expiryReadAtEachEndpoint},
	}
}

// movedBlocksAddedUntilPlanEmpty tells Terraform of one address after the other where it went; each plan has one replacement less.
func movedBlocksAddedUntilPlanEmpty(p *generator) (entries []entry, _ int) {
	h, module, changes := p.harness(), p.word(), p.between(0, 2)
	var addresses []string
	for _, word := range p.distinctWords(p.between(4, 10)) {
		addresses = append(addresses, p.pick("aws_subnet", "aws_security_group", "aws_iam_role", "aws_lb_listener", "aws_route53_record", "aws_sqs_queue")+"."+word)
	}
	command := p.pick("terraform plan", "terraform plan -no-color", "tofu plan -concise", "terraform plan -lock=false")
	w := wording{
		[]string{"Let me plan after the move into the module.", "First the plan."},
		[]string{"One replacement less.", "That one is recognised as moved.", "The plan is shorter.", "Good.", ""},
		[]string{"Plan again.", "Let me see what is left.", "Next plan.", "What remains?"},
	}
	refresh := ""
	for k := range p.between(1, 20) {
		refresh += fmt.Sprintf("module.%s.aws_vpc.this[%d]: Refreshing state... [id=vpc-%08x]\n", module, k, p.Uint32())
	}
	plan := func(left []string) string {
		text := refresh
		for _, a := range left {
			text += "\n  # " + a + " will be destroyed\n  # (because " + a + " is not in configuration)\n  - resource {}\n\n  # module." + module + "." + a + " will be created\n  + resource {}\n"
		}
		if len(left) == 0 && changes == 0 {
			return text + "\nNo changes. Your infrastructure matches the configuration."
		}
		return text + fmt.Sprintf("\nPlan: %d to add, %d to change, %d to destroy.", len(left), changes, len(left))
	}
	for k, a := range addresses {
		block := "moved {\n  from = " + a + "\n  to   = module." + module + "." + a + "\n}"
		edit := h.replace("moved.tf", "# end of moves", block+"\n# end of moves")
		if k == 0 {
			edit = h.create("moved.tf", block+"\n# end of moves\n")
		}
		entries = append(entries, h.shell(command, plan(addresses[k:]), 0).after(w.of(p, k)), edit.after(thought{"", p.pick("`"+a+"` went into the module.", "Now a moved block for `"+a+"`.", "Next: `"+a+"`.", "")}))
	}
	return append(entries, h.shell(command, plan(nil), 0).after(w.of(p, len(addresses)))), 0
}

// record is a record of a zone.
type record struct{ kind, name, value string }

func (p *generator) record(name, zone string) record {
	switch p.IntN(5) {
	case 0:
		return record{"CNAME", name, p.word() + "." + p.word() + ".example."}
	case 1:
		return record{"TXT", name, "\"v=" + p.word() + " " + p.uuid()[:8] + "\""}
	case 2:
		return record{"MX", name, fmt.Sprintf("%d mail.%s.", p.pickInt(5, 10, 20), zone)}
	}
	return record{"A", name, fmt.Sprintf("203.0.113.%d", p.between(1, 254))}
}

// recordsCopiedToNewZone creates one record after the other at the new provider, and asks the new name server for it.
func recordsCopiedToNewZone(p *generator) (entries []entry, _ int) {
	run, zone, form, id := p.waitingShell(), p.word()+".example", p.IntN(3), strings.ToUpper(p.uuid()[24:])
	names, server, now := p.distinctWords(p.between(5, 11)), p.pick("ns-211.newdns.example", "ada.ns.newdns.example", "ns1.newdns.example"), p.passingTime()
	asks := p.IntN(4) > 0
	w := wording{
		[]string{"I'll copy the records, one by one.", "Let me start with `" + names[0] + "." + zone + "`."},
		[]string{"That record is there.", "The new server answers.", "Copied.", ""},
		[]string{"Next: `%s`.", "Now `%s`.", "Then `%s`.", "On to `%s`."},
	}
	for k, name := range names {
		r, full, t := p.record(name, zone), name+"."+zone, w.of(p, k)
		if k > 0 {
			t.next = fmt.Sprintf(t.next, full)
		}
		ttl := p.pickInt(60, 300, 300, 3600)
		command, output := fmt.Sprintf("aws route53 change-resource-record-sets --hosted-zone-id Z%s --change-batch '{\"Changes\":[{\"Action\":\"CREATE\",\"ResourceRecordSet\":{\"Name\":\"%s\",\"Type\":\"%s\",\"TTL\":%d,\"ResourceRecords\":[{\"Value\":%s}]}}]}'", id, full, r.kind, ttl, quoted(r.value)), fmt.Sprintf("{\n    \"ChangeInfo\": {\n        \"Id\": \"/change/C%s\",\n        \"Status\": \"PENDING\",\n        \"SubmittedAt\": \"%s\"\n    }\n}", strings.ToUpper(p.uuid()[:8]), now())
		switch form {
		case 1:
			command, output = fmt.Sprintf("gcloud dns record-sets create %s. --zone=%s --type=%s --ttl=%d --rrdatas='%s'", full, strings.ReplaceAll(zone, ".", "-"), r.kind, ttl, r.value), fmt.Sprintf("NAME                 TYPE   TTL   DATA\n%s.   %s   %d   %s", full, r.kind, ttl, r.value)
		case 2:
			command, output = fmt.Sprintf("curl -s -X POST https://api.newdns.example/v4/zones/%s/dns_records -H \"Authorization: Bearer $TOKEN\" --json '{\"type\":\"%s\",\"name\":\"%s\",\"content\":%s,\"ttl\":%d}'", strings.ToLower(id), r.kind, full, quoted(r.value), ttl), string(object("result", object("id", strings.ReplaceAll(p.uuid(), "-", ""), "name", full, "type", r.kind, "ttl", ttl, "created_on", now()), "success", true, "errors", []string{}))
		}
		entries = append(entries, run(command, output, 0).after(t))
		if asks {
			entries = append(entries, run("dig +short "+r.kind+" "+full+" @"+server, r.value, 0).after(thought{"", p.pick("Does the new server have it?", "Ask the new server.", "")}))
		}
	}
	return entries, 0
}

// secretsMovedIntoVault stores one secret after the other in a vault and lets the cluster fetch it; all answers are alike.
func secretsMovedIntoVault(p *generator) (entries []entry, _ int) {
	run, app, now := p.waitingShell(), p.workload(), p.passingTime()
	names, store, reads := p.distinctWords(p.between(4, 9)), p.pick("vault", "cluster-vault", "vault-backend"), p.IntN(3) > 0
	said, field := func(texts ...string) thought { return thought{"", p.pick(texts...)} }, p.pick("value", "password", "token", "url")
	last := ""
	for _, name := range names {
		name += p.pick("-password", "-token", "-key", "-dsn")
		t := p.nextItem(last, "`"+name+"`")
		if last = "`" + name + "`"; reads {
			entries = append(entries, run("kubectl get secret "+name+" -n "+app+" -o jsonpath='{.data}' | jq 'keys'", "[\n  \""+field+"\"\n]", 0).after(t))
			t = said("Into the vault with it.", "Store it.", "")
		}
		entries = append(
			entries,
			run("kubectl get secret "+name+" -n "+app+" -o jsonpath='{.data."+field+"}' | base64 -d | vault kv put secret/"+app+"/"+name+" "+field+"=-", fmt.Sprintf("======= Secret Path =======\nsecret/data/%s/%s\n\n======= Metadata =======\nKey                Value\n---                -----\ncreated_time       %s\ncustom_metadata    <nil>\ndeletion_time      n/a\ndestroyed          false\nversion            1", app, name, now()), 0).after(t),
			run("kubectl apply -f external-secrets/"+name+".yaml", "externalsecret.external-secrets.io/"+name+" created", 0).after(said("Now the external secret.", "Apply its manifest.", "")),
			run("kubectl get externalsecret "+name+" -n "+app, fmt.Sprintf("NAME%sSTORETYPE            STORE     REFRESH INTERVAL   STATUS         READY\n%s   ClusterSecretStore   %s   1h                 SecretSynced   True", strings.Repeat(" ", max(1, len(name)-1)), name, store), 0).after(said("Is it synced?", "Check it.", "")),
		)
	}
	return entries, 0
}

// expiryReadAtEachEndpoint reads the certificate of one endpoint after the other; most are far from their end, and the answers are alike.
func expiryReadAtEachEndpoint(p *generator) (entries []entry, _ int) {
	run, zone := p.commands(), p.word()+".example"
	names, form, issuer := p.distinctWords(p.between(7, 15)), p.IntN(3), p.pick("R10", "R11", "E5", "Internal CA 2")
	day, serial := p.between(1, 28), func() string { return strings.ToUpper(strings.ReplaceAll(p.uuid(), "-", "")) }
	w := wording{
		[]string{"Let me read the certificates, host by host.", "I'll start with `" + names[0] + "." + zone + "`."},
		[]string{"That one is valid for months.", "Fine.", "No need to renew it.", "Valid.", ""},
		[]string{"Next: `%s`.", "Now `%s`.", "Then `%s`.", "On to `%s`."},
	}
	var soon []string
	for k, name := range names {
		host, t := name+"."+zone, w.of(p, k)
		if k > 0 {
			t.next = fmt.Sprintf(t.next, host)
		}
		if len(soon) > 0 && soon[len(soon)-1] == names[max(0, k-1)]+"."+zone {
			t.seen = "That one ends soon, I put it on the list."
		}
		month := p.pick("Sep", "Sep", "Oct", "Oct", "Nov")
		if p.IntN(6) == 0 {
			month, soon = "Jul", append(soon, host)
		}
		date := fmt.Sprintf("%s %2d %02d:%02d:%02d 2026 GMT", month, day, p.IntN(24), p.IntN(60), p.IntN(60))
		command, output := "echo | openssl s_client -connect "+host+":443 -servername "+host+" 2>/dev/null | openssl x509 -noout -enddate -issuer", "notAfter="+date+"\nissuer=C=US, O=Let's Encrypt, CN="+issuer
		switch form {
		case 1:
			command, output = "curl -vsI https://"+host+" 2>&1 | grep -E 'subject:|expire date:|issuer:'", "*  subject: CN="+host+"\n*  expire date: "+date+"\n*  issuer: C=US; O=Let's Encrypt; CN="+issuer
		case 2:
			command, output = "kubectl get secret "+name+"-tls -o jsonpath='{.data.tls\\.crt}' | base64 -d | openssl x509 -noout -subject -enddate -serial", "subject=CN="+host+"\nnotAfter="+date+"\nserial="+serial()
		}
		entries = append(entries, run(command, output, 0).after(t))
	}
	if len(soon) == 0 {
		return append(entries, say("None of the "+fmt.Sprint(len(names))+" certificates has to be renewed this month.")), 0
	}
	return append(entries, say("These have to be renewed: "+strings.Join(soon, ", ")+".")), 0
}
