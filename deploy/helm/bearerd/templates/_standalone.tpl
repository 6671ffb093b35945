{{/* What only a pod of its own has. */}}

{{/* The pod, less its containers and volumes. `standalone.podSpec` wins over it, key by key. */}}
{{- define "bearerd.podDefaults" -}}
automountServiceAccountToken: false
# More than BEARERD_SHUTDOWN_DELAY and BEARERD_DRAIN_TIMEOUT together.
terminationGracePeriodSeconds: 45
securityContext:
  runAsNonRoot: true
  seccompProfile:
    type: RuntimeDefault
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "bearerd.selector" . | nindent 8 }}
{{- end -}}

{{/* See "bearerd.environment". The hosts are the names of the Service. */}}
{{- define "bearerd.standalonePreset" -}}
{{- $name := include "bearerd.name" . -}}
BEARERD_LISTEN: { key: listen, value: '0.0.0.0:9180' }
BEARERD_ADMIN_LISTEN: { key: admin.listen, value: '0.0.0.0:9181' }
BEARERD_SHUTDOWN_DELAY: { key: shutdownDelay, value: 5s }
BEARERD_ALLOWED_HOSTS:
  key: allowedHosts
  value: {{ printf "%s,%s.%s,*.svc,*.svc.cluster.local" $name $name .Release.Namespace | quote }}
{{- end -}}

{{/* The port that .variable listens on where other pods and the kubelet can call. Takes .Values and .preset, too. */}}
{{- define "bearerd.port" -}}
{{- $preset := get .preset .variable -}}
{{- $given := include "bearerd.given" (dict "Values" .Values "variable" .variable "key" $preset.key) -}}
{{- $ports := list -}}
{{- range splitList "," ($given | default $preset.value) -}}
{{- if not (regexMatch "^(unix:|localhost:|127\\.|\\[::1\\])" (trim .)) -}}
{{- $ports = append $ports (regexFind ":[0-9]+$" (trim .) | trimPrefix ":") -}}
{{- end -}}
{{- end -}}
{{- $what := "%s (%s) is %q: others call there, so it has to be an address that they reach, such as %s" -}}
{{- required (printf $what .variable $preset.key $given $preset.value) (first (compact $ports)) -}}
{{- end -}}

{{/* The ports that bearerd itself calls: the API's, 443 for logins, and Redis' where a share is configured. */}}
{{- define "bearerd.egressPorts" -}}
{{- $url := urlParse (include "bearerd.given" (dict "Values" .Values "variable" "BEARERD_BASE_URL" "key" "baseUrl")) -}}
{{- $usual := eq $url.scheme "http" | ternary 80 443 -}}
{{- $ports := list 443 (regexFind ":[0-9]+$" $url.host | trimPrefix ":" | default $usual) -}}
{{- if or (hasKey .Values.secretFiles "BEARERD_SHARE_URL_FILE") (hasKey .Values.config "share") -}}
{{- $ports = append $ports 6379 -}}
{{- end -}}
{{- range concat $ports .Values.standalone.networkPolicy.egressPorts | join "," | splitList "," | uniq }}
- port: {{ . }}
{{- end -}}
{{- end -}}
