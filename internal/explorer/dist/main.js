import{html as Ko,render as l$,useEffect as c$,useState as u$}from"../vendor/preact.js";import{useCallback as Jl,useEffect as dr,useRef as Wo,useState as pr}from"../vendor/preact.js";import{useEffect as Fl,useState as Bl}from"../vendor/preact.js";function z(e){let t=e,n=new Set;return{get:()=>t,set(o){t=typeof o=="function"?o(t):o;for(let r of[...n])r(t)},subscribe(o){return n.add(o),()=>n.delete(o)}}}function y(e){let[t,n]=Bl(e.get());return Fl(()=>(n(e.get()),e.subscribe(o=>n(o))),[e]),t}function pe(e,t){let n=`mayfly.${e}`,o=t;try{let a=localStorage.getItem(n);a!==null&&(o=JSON.parse(a))}catch{}let r=z(o);return r.subscribe(a=>{try{localStorage.setItem(n,JSON.stringify(a))}catch{}}),r}var Ho="/_mayfly/v1",nn=class extends Error{constructor(t,n,o){super(o),this.status=t,this.kind=n}},ft=z(!0),D=z({needsKey:!1,signedIn:!0,write:!1}),$e=(...e)=>"/"+e.map(encodeURIComponent).join("/"),ie=(e,t)=>$e("databases",e,"containers",t);async function G(e,t,{query:n,body:o,raw:r,headers:a={},signal:i,as:l="json"}={}){let c=new URLSearchParams;for(let[h,b]of Object.entries(n??{}))b!=null&&b!==""&&c.set(h,b);let u=c.toString(),m={method:e,headers:{Accept:"application/json",...a},signal:i,credentials:"same-origin"};r!==void 0?m.body=r:o!==void 0&&(m.body=JSON.stringify(o),m.headers["Content-Type"]="application/json");let{needsKey:d,signedIn:$}=D.get();if(d&&!$&&t!=="/session")throw new nn(401,"locked","locked");let p;try{p=await fetch(Ho+t+(u?`?${u}`:""),m)}catch(h){throw h.name==="AbortError"?h:(Vo(!1),Kl(),new nn(0,"unreachable","unreachable"))}if(Vo(!0),!p.ok)throw await Ul(p);return l==="response"?p:{body:l==="text"?await p.text():await p.text().then(h=>h?zl(h):null),headers:p.headers,status:p.status}}async function Ul(e){let t=await e.text(),n={};try{n=JSON.parse(t)}catch{}return e.status===401&&D.set(o=>({...o,needsKey:!0,signedIn:!1})),new nn(e.status,n.kind??"",n.detail||n.title||t||e.statusText)}function zl(e){return JSON.parse(e,(t,n,o)=>typeof n=="number"&&o&&!Number.isSafeInteger(n)&&/^-?\d+$/.test(o.source)?on(o.source):n)}var on=e=>JSON.rawJSON?JSON.rawJSON(e):Number(e),E=(e,t)=>G("GET",e,t).then(n=>n.body),P=(e,t,n)=>G("POST",e,{body:t,...n}).then(o=>o.body),Ke=(e,t,n)=>G("PUT",e,{body:t,...n}).then(o=>o.body),We=(e,t)=>G("DELETE",e,t).then(n=>n.body);function Vo(e){ft.get()!==e&&ft.set(e)}var Go=!1;function Kl(){if(Go)return;Go=!0;let e=async()=>{try{await fetch(`${Ho}/version`),Go=!1,Vo(!0)}catch{setTimeout(e,2e3)}};setTimeout(e,1e3)}function Jn(e,t,n=()=>{}){let o=new AbortController,r=()=>{},a,i=()=>{o.abort(),r(),r=()=>{},clearTimeout(a)},l=async()=>{i(),o=new AbortController;let{signal:u}=o,m=()=>{u.aborted||(i(),a=setTimeout(l,5e3))};try{let d=await e(u);if(u.aborted)return;r=Wl(t(d),m)}catch(d){u.aborted||n(d),m()}};l();let c=ft.subscribe(u=>u?l():i());return()=>{c(),i()}}function Wl({route:e,name:t,use:n},o){let r=new EventSource(Ho+e);return r.addEventListener(t,a=>n(JSON.parse(a.data))),r.addEventListener("error",()=>{r.readyState===EventSource.CLOSED&&o()}),()=>r.close()}function M(e,t,{every:n,keep:o}={}){let[r,a]=pr({data:void 0,error:null,loading:!0}),[i,l]=pr(0),c=Wo(e);c.current=e;let u=Wo(t),m=Wo(null);return dr(()=>{let d=new AbortController,$=u.current.some((f,h)=>f!==t[h]&&(h===0||!o));u.current=t,m.current=d;let p=f=>{m.current===d&&(m.current=null),d.signal.aborted||a(f)};return a(f=>({data:$?void 0:f.data,error:null,loading:!0})),c.current(d.signal).then(f=>p({data:f,error:null,loading:!1}),f=>p(h=>f.name==="AbortError"?h:{data:h.data,error:f,loading:!1})),()=>d.abort()},[...t,i]),dr(()=>{if(!n)return;let d=setInterval(()=>{!document.hidden&&!m.current&&l($=>$+1)},n);return()=>clearInterval(d)},[n]),{...r,reload:Jl(()=>l(d=>d+1),[])}}var Se=z({databases:void 0,error:null}),Yo=null;async function Gl(){let{databases:e}=await E("/databases");return(await Promise.all(e.map(async({id:n})=>{try{return{id:n,containers:(await E($e("databases",n,"containers"))).containers}}catch(o){if(o.status===404)return null;throw o}}))).filter(Boolean)}function j(){return Yo??=Gl().then(e=>Se.set({databases:e,error:null}),e=>Se.set(t=>({...t,error:e}))).finally(()=>{Yo=null}),Yo}var $r=(e,t,n)=>e.databases?.find(o=>o.id===t)?.containers.find(o=>o.id===n);function fr(){j(),setInterval(()=>{document.hidden||j()},1e4)}import{useEffect as Vl,useRef as Hl,useState as Yl}from"../vendor/preact.js";var ke=z({virtual:!1,at:Date.now()/1e3,seen:performance.now(),known:!1}),_t=()=>{let e=ke.get();return e.virtual?e.at:e.at+(performance.now()-e.seen)/1e3};function Pt({time:e,virtual:t}){ke.set(n=>({virtual:t??n.virtual,at:typeof e=="number"?e:Date.parse(e)/1e3,seen:performance.now(),known:!0}))}function hr(e){(!ke.get().known||e>_t())&&Pt({time:e})}var Tt=()=>E("/clock").then(Pt,()=>{});function gr(){let e=0;Tt(),setInterval(()=>{!document.hidden&&(ke.get().virtual||++e%15===0)&&Tt()},2e3)}var br=z(0),yr=()=>br.set(e=>e+1);setInterval(yr,1e3);ke.subscribe(yr);function Ge(e){let t=e(Math.floor(_t())),n=Hl();n.current=e;let[,o]=Yl(t);return Vl(()=>{let r=()=>o(n.current(Math.floor(_t())));return r(),br.subscribe(r)},[]),t}var Ft=()=>Ge(e=>e);var Qo={en:"English",pt:"Português",es:"Español"},wr=pe("language",null),Zo=z({}),kr=new Intl.PluralRules("en"),Xl=()=>(navigator.languages??["en"]).map(e=>e.slice(0,2)).find(e=>Qo[e])??"en",ht=()=>wr.get()??Xl();async function es(e=ht()){let t=await fetch(`/_explorer/src/messages/${e}.json`);kr=new Intl.PluralRules(e),document.documentElement.lang=e,Zo.set(await t.json())}async function vr(e){wr.set(e),await es(e)}function s(e,t={}){let n=Zo.get()[e];return n===void 0?e:(typeof n=="object"&&(n=n[kr.select(Number(t.n))]??n.other),n.replace(/\{(\w+)\}/g,(o,r)=>{let a=t[r];return a===void 0?o:typeof a=="number"?S(a):String(a)}))}var xr=()=>y(Zo),Xo=new Map;function ts(e,t){let n=`${e.name} ${ht()} ${t?JSON.stringify(t):""}`;return Xo.has(n)||Xo.set(n,new e(ht(),t)),Xo.get(n)}var S=(e,t)=>ts(Intl.NumberFormat,t).format(e);var sn=pe("theme","system"),ns=z(0);function Un(){let e=sn.get();e==="system"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=e,ns.set(t=>t+1)}sn.subscribe(Un);matchMedia("(prefers-color-scheme: dark)").addEventListener("change",Un);import{html as J,useEffect as Qp,useState as sr}from"../vendor/preact.js";var Sr=["B","kB","MB","GB","TB","PB"];function V(e){let t=0;for(;e>=999.5&&t<Sr.length-1;)e/=1e3,t++;return`${S(e,{maximumFractionDigits:t&&e<10?1:0})} ${Sr[t]}`}var gt=e=>S(e,{notation:e>=1e4?"compact":"standard",maximumFractionDigits:1}),Cr={d:86400,h:3600,m:60,s:1},Ql=[["day",86400],["hour",3600],["minute",60],["second",1]];function Ie(e){let t=[],n=Math.max(0,Math.floor(e));for(let[o,r]of Object.entries(Cr)){let a=Math.floor(n/r);if((a>0||o==="s"&&t.length===0)&&t.push(`${o==="d"?S(a):a}${o}`),n%=r,t.length===2)break}return t.join(" ")}function he(e){let t=[],n=Math.floor(e);for(let[o,r]of Ql){let a=Math.floor(n/r);a>0&&t.push(s(`time.${o}`,{n:a})),n%=r}return t.length?t.join(" "):s("time.second",{n:0})}function Ve(e){if(e=e.trim().replace(/\s+/g,""),/^\d+$/.test(e))return Number(e);if(!/^(\d+(w|d|h|m|s))+$/i.test(e))return NaN;let t={w:604800,...Cr},n=0;for(let[,o,r]of e.matchAll(/(\d+)(w|d|h|m|s)/gi))n+=Number(o)*t[r.toLowerCase()];return n}function N(e,t){let n=new Date(e*1e3);return Number.isNaN(n.getTime())?String(e):ts(Intl.DateTimeFormat,t??Zl).format(n)}var Zl={year:"numeric",month:"short",day:"2-digit",hour:"2-digit",minute:"2-digit",second:"2-digit"},F=e=>{let t=new Date(e*1e3);return Number.isNaN(t.getTime())?"":t.toISOString().replace(".000Z","Z")};function He(e){let t=[],n=e.defaultTtl;n>0?t.push(e.ttlPropertyPath?s("policy.after.property",{life:he(n),property:e.ttlPropertyPath}):s("policy.after",{life:he(n)})):n===-1&&t.push(s("policy.on"));for(let o of Bt(e))t.push(s("policy.date",{life:he(o.expireAfterSeconds),field:o.field}));return t.length?t.join("; "):s("policy.off")}function Bt(e){return e.dates?e.dates:(e.indexes??[]).filter(t=>t.expireAfterSeconds!==void 0&&!("_ts"in t.key)).map(t=>({index:t.name,field:Object.keys(t.key)[0],expireAfterSeconds:t.expireAfterSeconds}))}import{useEffect as ec}from"../vendor/preact.js";var Nt=z([]);function zn(e){ec(()=>(Nt.set(t=>[...t,e]),()=>Nt.set(t=>t.filter(n=>n!==e))))}function tc(e){return(e.ctrlKey||e.metaKey?"mod+":"")+(e.altKey?"alt+":"")+e.key.toLowerCase()}var nc=e=>e.isContentEditable||/^(INPUT|TEXTAREA|SELECT)$/.test(e.tagName);addEventListener("keydown",e=>{if(e.defaultPrevented||e.isComposing||document.querySelector("dialog.login[open]"))return;let t=e.composedPath()[0],n=tc(e);if(!(nc(t)&&!n.startsWith("mod+"))&&!(document.querySelector("dialog[open]")&&n!=="mod+k"))for(let o of[...Nt.get()].reverse()){let r=o.find(a=>a.key===n);if(r){e.preventDefault(),r.run(e);return}}});import{html as an,useEffect as Ar,useRef as oc,useState as Rr}from"../vendor/preact.js";var Er=()=>{let[e,t]=location.hash.replace(/^#/,"").split("?");return{steps:e.split("/").filter(Boolean).map(o=>{try{return decodeURIComponent(o)}catch{return o}}),query:new URLSearchParams(t??"")}},Tr=z(Er()),Jt=()=>y(Tr),ss=new Set;function Nr(e){return ss.add(e),()=>ss.delete(e)}var Wn=()=>[...ss].some(e=>e()),rn=z(null);function Ir(e){Wn()?rn.set({goOn:e}):e()}var Or=e=>e.split("?")[0],os=location.hash,Kn=null;addEventListener("hashchange",()=>{let e=location.hash;if(e!==Kn&&Or(e)!==Or(os)&&Wn()){history.replaceState(history.state,"",os||"#/");let t=()=>{Kn=e||"#/",location.replace(Kn)};rn.set({goOn:t});return}Kn=null,os=e,Tr.set(Er())});function R(...e){let t=typeof e.at(-1)=="object"?e.pop():null,n=t?new URLSearchParams(t).toString():"";return"#/"+e.map(encodeURIComponent).join("/")+(n?`?${n}`:"")}var se=(...e)=>{location.hash=R(...e)};var sc=50;function rc(e,t){let n=[{label:s("nav.home"),run:()=>se()},{label:s("nav.lifetime"),run:()=>se("lifetime")},...t?[{label:s("nav.clock"),run:()=>se("clock")}]:[],...["work","slow","connections","audit","connect"].map(o=>({label:`${s("nav.operations")}: ${s(`operations.${o}`)}`,run:()=>se("operations",o)}))];for(let o of Nt.get().flat())o.label&&o.key!=="mod+k"&&n.push({label:o.label,key:o.key,run:o.run});for(let o of e.databases??[])for(let r of o.containers)for(let a of["items","query","settings","lifetime"])n.push({label:`${o.id}/${r.id}`,detail:s(`tab.${a}`),run:()=>se("c",o.id,r.id,a)});return n}function ac(e,t){let n=0;for(let o of t)if(n=e.indexOf(o,n)+1,n===0)return!1;return!0}function qr({onClose:e}){let t=y(Se),{virtual:n}=y(ke),[o,r]=Rr(""),[a,i]=Rr(0),l=oc(null),c=o.toLowerCase().replace(/\s+/g,""),u=rc(t,n).filter($=>ac(`${$.label}${$.detail??""}`.toLowerCase(),c)).slice(0,sc);Ar(()=>{let $=document.activeElement;return l.current.showModal(),()=>$?.focus?.()},[]),Ar(()=>l.current.querySelector("[aria-selected=true]")?.scrollIntoView({block:"nearest"}),[a]);let m=$=>{e(),setTimeout(()=>$.run(),0)},d=$=>{if($.key==="ArrowDown")i(Math.min(a+1,u.length-1));else if($.key==="ArrowUp")i(Math.max(a-1,0));else if($.key==="Enter"&&u[a])m(u[a]);else return;$.preventDefault()};return an`<dialog class="palette" ref=${l} aria-label=${s("palette.open")} onCancel=${e} onClick=${$=>{$.target===l.current&&e()}}>
    <input role="combobox" aria-expanded="true" aria-controls="palette-list" aria-activedescendant=${`palette-${a}`} autofocus
      aria-label=${s("palette.open")} placeholder=${s("palette.placeholder")} value=${o} onKeyDown=${d}
      onInput=${$=>{r($.target.value),i(0)}} />
    <ul id="palette-list" role="listbox" aria-label=${s("palette.open")}>${u.map(($,p)=>an`
      <li id=${`palette-${p}`} role="option" aria-selected=${p===a} onClick=${()=>m($)}>
        <span class="ellipsis">${$.label}</span>${$.detail&&an`<span class="detail">${$.detail}</span>`}
        ${$.key&&an`<kbd>${$.key.toUpperCase()}</kbd>`}</li>`)}</ul>
    ${u.length===0&&an`<p class="hint">${s("palette.nothing")}</p>`}
  </dialog>`}import{html as ge,useState as Yn}from"../vendor/preact.js";import{html as Q,useEffect as Dr,useRef as Mr,useState as Gn}from"../vendor/preact.js";var Ye=({label:e})=>Q`<span class="spinner" role="status" aria-label=${e??s("loading")}></span>`,I=({lines:e=3})=>Q`<div class="skeleton" role="status" aria-label=${s("loading")}>
  ${Array.from({length:e},()=>Q`<div></div>`)}</div>`;function g({error:e,retry:t}){return e?Q`<div class="failure" role="alert">
    <strong>${ic(e)}</strong>
    ${e.status!==0&&Q`<p>${e.message}</p>`}
    ${t&&Q`<button onClick=${t}>${s("retry")}</button>`}
  </div>`:null}var ic=e=>e.status===0?s("error.unreachable"):s("error.status",{status:String(e.status??""),kind:e.kind||e.name}),Z=({title:e,children:t})=>Q`<div class="empty"><h3>${e}</h3>${t}</div>`;function Re({deadline:e}){let t=e==null,n=Ge(r=>t?s("never"):e<=r?s("expired"):Ie(e-r)),o=Ge(r=>t?"never":lc(e-r));return t?Q`<span class="countdown never">${n}</span>`:Q`<time class="countdown ${o}" datetime=${F(e)} title=${`${N(e)} · ${F(e)}`}>
    ${n}</time>`}var lc=e=>e<=0?"gone":e<60?"soon":e<3600?"near":"far";function B({title:e,onClose:t,children:n,footer:o,wide:r}){let a=Mr(null);return Dr(()=>{let i=a.current,l=document.activeElement;return i.showModal(),()=>{i.close(),l?.focus?.()}},[]),Q`<dialog ref=${a} class=${r?"wide":""} aria-label=${e}
      onCancel=${i=>{i.preventDefault(),t()}}>
    <header><h2>${e}</h2>
      <button class="quiet" aria-label=${s("close")} onClick=${t}>✕</button></header>
    <div class="content">${n}</div>
    ${o&&Q`<footer>${o}</footer>`}
  </dialog>`}function ee({title:e,children:t,action:n,danger:o=!0,typed:r,onConfirm:a,onClose:i}){let[l,c]=Gn(""),[u,m]=Gn(!1),[d,$]=Gn(null),p=!u&&(!r||l===r),f=async h=>{if(h?.preventDefault(),!!p){m(!0);try{await a(),i()}catch(b){$(b),m(!1)}}};return Q`<${B} title=${e} onClose=${i} footer=${Q`
      <button onClick=${i}>${s("cancel")}</button>
      <button class=${o?"danger":"primary"} disabled=${!p} onClick=${f}>${n}</button>`}>
    <form onSubmit=${f}>${t}
      ${r&&Q`<label class="field">${s("confirm.type",{name:r})}
        <input value=${l} onInput=${h=>c(h.target.value)} autocomplete="off" spellcheck="false" autofocus /></label>`}
    </form>
    <${g} error=${d} />
  <//>`}var rs=z([]),cc=0;function T(e,t=""){let n=++cc;rs.set(o=>[...o.slice(-3),{id:n,text:e,kind:t}]),setTimeout(()=>rs.set(o=>o.filter(r=>r.id!==n)),t==="bad"?12e3:5e3)}function jr(){let e=y(rs);return Q`<div class="toasts" role="status" aria-live="polite">
    ${e.map(({id:t,text:n,kind:o})=>Q`<div key=${t} class="toast ${o}">${n}</div>`)}</div>`}function bt({label:e,entries:t,children:n}){let[o,r]=Gn(!1),a=Mr(null);return Dr(()=>{if(!o)return;a.current.querySelector("[role=menuitem]:not([disabled])")?.focus();let l=c=>{a.current.contains(c.target)||r(!1)};return addEventListener("pointerdown",l),()=>removeEventListener("pointerdown",l)},[o]),Q`<div class="menu" ref=${a} onKeyDown=${o?l=>{let c=[...a.current.querySelectorAll("[role=menuitem]:not([disabled])")],u=c.indexOf(document.activeElement);if(l.key==="Escape")l.stopPropagation(),r(!1),a.current.querySelector("button").focus();else if(l.key==="ArrowDown")c[(u+1)%c.length]?.focus();else if(l.key==="ArrowUp")c[(u-1+c.length)%c.length]?.focus();else return;l.preventDefault()}:void 0}>
    <button class="quiet" aria-haspopup="menu" aria-expanded=${o} aria-label=${e} title=${e}
      onClick=${()=>r(!o)}>${n??"⋯"}</button>
    ${o&&Q`<div role="menu">${t.filter(Boolean).map(l=>Q`
      <button role="menuitem" class=${l.danger?"danger":""} disabled=${l.disabled}
        onClick=${()=>{r(!1),l.action()}}>${l.label}</button>`)}</div>`}
  </div>`}var Vn=({tabs:e,current:t,label:n})=>Q`<nav class="tabs" aria-label=${n}>
  ${e.map(o=>Q`<a href=${o.href} aria-current=${o.name===t?"page":void 0}>${o.label}</a>`)}</nav>`;async function yt(e){try{await navigator.clipboard.writeText(e)}catch{let t=document.createElement("textarea");t.value=e,document.body.append(t),t.select(),document.execCommand("copy"),t.remove()}T(s("copied"),"good")}function Hn(e,t,n="application/octet-stream"){let o=URL.createObjectURL(new Blob([t],{type:n})),r=document.createElement("a");r.href=o,r.download=e,r.click(),setTimeout(()=>URL.revokeObjectURL(o),1e3)}import{html as ln,useState as Lr}from"../vendor/preact.js";function _r({db:e,onClose:t}){let[n,o]=Lr({id:"",dialect:"nosql",key:"/id",ttl:"off",life:"30d"}),[r,a]=Lr(null),i=d=>$=>o(p=>({...p,[d]:$.target.value})),l=Ve(n.life),c=n.dialect==="mongodb",u=n.id&&(c||n.key.startsWith("/"))&&(n.ttl!=="seconds"||l>0),m=async d=>{if(d.preventDefault(),!u)return;let $={id:n.id,dialect:n.dialect};c||($.partitionKey={paths:n.key.split(",").map(p=>p.trim())}),n.ttl==="seconds"&&($.defaultTtl=l),n.ttl==="on"&&($.defaultTtl=-1);try{await P($e("databases",e,"containers"),$),await j(),T(s("container.created",{name:n.id}),"good"),t(),se("c",e,n.id,"items")}catch(p){a(p)}};return ln`<${B} title=${s("container.new.in",{name:e})} onClose=${t} footer=${ln`<button onClick=${t}>${s("cancel")}</button>
      <button class="primary" disabled=${!u} onClick=${m}>${s("create")}</button>`}>
    <form onSubmit=${m}>
      <label class="field">${s("name")}<input value=${n.id} onInput=${i("id")} autofocus autocomplete="off" spellcheck="false" maxlength="255" /></label>
      <label class="field">${s("container.dialect")}<select value=${n.dialect} onChange=${i("dialect")}>
        <option value="nosql">Cosmos DB for NoSQL</option><option value="mongodb">MongoDB</option></select></label>
      ${!c&&ln`<label class="field">${s("container.partitionKey")}<input value=${n.key} onInput=${i("key")} spellcheck="false" /></label>`}
      <fieldset class="field"><legend>${s("ttl.title")}</legend>
        ${["off","on","seconds"].map(d=>ln`<label class="choice"><input type="radio" name="ttl" value=${d}
          checked=${n.ttl===d} onChange=${i("ttl")} />${s(`ttl.${d}`)}</label>`)}
        ${n.ttl==="seconds"&&ln`<label class="field">${s("ttl.life")}<input value=${n.life} onInput=${i("life")} />
          <small>${l>0?he(l):s("ttl.invalid")}</small></label>`}</fieldset>
    </form>
    <${g} error=${r} /><//>`}function Pr(){let{databases:e,error:t}=y(Se),{write:n}=y(D),[o,r]=Yn(""),[a,i]=Yn(null),l=()=>i(null),c=o.toLowerCase(),u=(e??[]).map(m=>({...m,shown:m.containers.filter(d=>`${m.id}/${d.id}`.toLowerCase().includes(c))})).filter(m=>m.shown.length||m.id.toLowerCase().includes(c));return ge`<div class="tree">
    <div class="tree-head"><input type="search" placeholder=${s("tree.filter")} aria-label=${s("tree.filter")} value=${o}
        onInput=${m=>r(m.target.value)} />
      ${n&&ge`<button class="quiet" title=${s("database.new")} aria-label=${s("database.new")} onClick=${()=>i({new:"database"})}>+</button>`}</div>
    ${t&&ge`<${g} error=${t} retry=${j} />`}
    ${!e&&!t&&ge`<${I} lines=${5} />`}
    ${e?.length===0&&ge`<p class="hint">${s("tree.empty")}</p>`}
    ${e?.length>0&&u.length===0&&ge`<p class="hint">${s("tree.nothing")}</p>`}
    <ul>${u.map(m=>ge`<li key=${m.id}>
      <div class="tree-row database"><span class="ellipsis" title=${m.id}>${m.id}</span>
        ${n&&ge`<${bt} label=${s("database.menu",{name:m.id})} entries=${[{label:s("container.new"),action:()=>i({new:"container",db:m.id})},{label:s("database.delete"),danger:!0,action:()=>i({delete:m})}]} />`}</div>
      <ul>${m.shown.map(d=>ge`<${uc} key=${d.id} db=${m.id} container=${d} />`)}
        ${m.containers.length===0&&ge`<li class="hint">${s("database.empty")}</li>`}</ul></li>`)}</ul>
    ${a?.new==="database"&&ge`<${mc} onClose=${l} />`}
    ${a?.new==="container"&&ge`<${_r} db=${a.db} onClose=${l} />`}
    ${a?.delete&&ge`<${ee} title=${s("database.delete")} action=${s("delete")} typed=${a.delete.id} onClose=${l}
      onConfirm=${async()=>{await We($e("databases",a.delete.id)),T(s("database.deleted",{name:a.delete.id}),"good"),await j(),se()}}><p>${s("database.delete.ask",{name:a.delete.id,n:a.delete.containers.length})}</p><//>`}
  </div>`}function uc({db:e,container:t}){let{steps:n}=Jt(),o=n[0]==="c"&&n[1]===e&&n[2]===t.id;return ge`<li><a class="tree-row" href=${R("c",e,t.id,n[0]==="c"?n[3]??"items":"items")}
      aria-current=${o?"page":void 0} title=${`${e}/${t.id} · ${He(t)}`}>
    <span class="ellipsis">${t.id}</span>
    <span class="dialect">${t.dialect==="mongodb"?"M":"N"}</span></a></li>`}function mc({onClose:e}){let[t,n]=Yn(""),[o,r]=Yn(null),a=async i=>{i.preventDefault();try{await P("/databases",{id:t}),await j(),T(s("database.created",{name:t}),"good"),e()}catch(l){r(l)}};return ge`<${B} title=${s("database.new")} onClose=${e} footer=${ge`<button onClick=${e}>${s("cancel")}</button>
      <button class="primary" disabled=${!t} onClick=${a}>${s("create")}</button>`}>
    <form onSubmit=${a}><label class="field">${s("name")}
      <input value=${t} onInput=${i=>n(i.target.value)} autofocus autocomplete="off" spellcheck="false" maxlength="255" /></label></form>
    <${g} error=${o} /><//>`}import{html as be,useEffect as ls,useMemo as wc,useState as oo}from"../vendor/preact.js";var dc=900,It=z([]),Xn=null,as=0;function Qn(){return as++,Xn??=pc(),()=>{as--,setTimeout(()=>{as>0||!Xn||(Xn(),Xn=null)},1e3)}}var pc=()=>Jn(e=>E("/activity",{signal:e}),({samples:e})=>(It.set(e),{route:`/activity/events?since=${e.at(-1)?.time??0}`,name:"sample",use:$c}));function $c(e){Pt({time:e.now}),It.set(t=>e.time>(t.at(-1)?.time??0)?[...t.slice(-dc+1),e]:t)}function Zn(e,t=60){let n=e.slice(-t),o=n.reduce((l,c)=>l+c.nosql.requests+c.mongo.requests,0),r=n.reduce((l,c)=>l+c.nosql.errors+c.mongo.errors,0),a=n.reduce((l,c)=>Math.max(l,c.nosql.p99Ms,c.mongo.p99Ms),0),i=n.at(-1);return{rate:n.length?o/n.length:0,errors:r,slowest:a,backlog:i?.backlog??0,lag:i?.lagSeconds??0,memory:i?.memoryBytes??0}}import{html as fc,useEffect as Fr,useRef as Br}from"../vendor/preact.js";import{uPlot as hc}from"../vendor/uplot.js";var cn=document.createElement("span");cn.hidden=!0;function eo(e){return cn.isConnected||document.body.append(cn),cn.style.color=`var(${e})`,getComputedStyle(cn).color}var Jr=["--chart-1","--chart-2","--chart-3","--chart-4","--chart-5","--chart-6","--chart-7","--chart-8"],Xe=(e,t=1)=>eo(Jr[e%Jr.length]).replace(/^rgb\((.*)\)$/,(n,o)=>`rgba(${o}, ${t})`),it=(e={})=>({stroke:eo("--muted"),grid:{stroke:eo("--line"),width:1},ticks:{stroke:eo("--line"),width:1},font:"11px system-ui",...e}),to=()=>it({space:70,values:(e,t)=>t.map(n=>N(n,{hour:"2-digit",minute:"2-digit",second:"2-digit"}))});function Ut({make:e,data:t,height:n=220,label:o,deps:r=[]}){let a=Br(null),i=Br(null),l=y(ns);return Fr(()=>{let c=a.current.clientWidth||600;i.current=new hc({width:c,height:n,...e(c)},t,a.current);let u=a.current,m=new ResizeObserver(()=>{u.isConnected&&i.current?.setSize({width:u.clientWidth,height:n})});return m.observe(u),()=>{m.disconnect(),i.current.destroy(),i.current=null}},[l,n,...r]),Fr(()=>{i.current?.setData(t)},[t]),fc`<div class="chart" ref=${a} role="img" aria-label=${o}></div>`}import{html as is,useState as Ur}from"../vendor/preact.js";var gc=[10,15,20,25,30,40,50,60,75,90,120,180,300,600,900,1800,3600,7200,14400,28800,43200,86400,129600,172800,259200,345600,432e3,604800],zr=["ada","alan","barbara","dennis","edsger","frances","grace","john","karen","ken","leslie","margaret"],Kr=["Lisboa","São Paulo","Madrid","Bogotá","Berlin","Nairobi","Kyoto"],Wr=["phone","tablet","laptop","desktop"];function bc(){let e=gc.map((t,n)=>({id:`session-${String(n+1).padStart(2,"0")}`,user:zr[n%zr.length],device:Wr[n%Wr.length],city:Kr[n%Kr.length],pages:n*7%23+1,cart:{items:n%4,total:n%4*12.5},ttl:t}));return e.push({id:"session-api",user:"robot",device:"server",city:"Lisboa",pages:0,cart:{items:0,total:0},ttl:-1}),e.push({id:"session-new",user:"grace",device:"phone",city:"Madrid",pages:1,cart:{items:0,total:0}}),e}async function yc(){await P("/databases",{id:"sample"}),await P($e("databases","sample","containers"),{id:"sessions",partitionKey:{paths:["/user"]},defaultTtl:7776e3});for(let e of bc())await P($e("databases","sample","containers","sessions","items"),e)}function Gr(){let{write:e}=y(D),[t,n]=Ur(!1),[o,r]=Ur(null),a=async()=>{n(!0),r(null);try{await yc(),await j(),se("c","sample","sessions","items")}catch(i){r(i),n(!1)}};return is`<section class="welcome">
    <img src="/_explorer/src/icon.svg" alt="" width="72" height="72" />
    <h1>${s("welcome.title")}</h1><p>${s("welcome.text")}</p>
    ${e?is`<button class="primary" disabled=${t} onClick=${a}>${t?s("welcome.making"):s("welcome.make")}</button>
      <p class="hint">${s("welcome.what")}</p>`:is`<p class="hint">${s("welcome.readonly")}</p>`}
    <p><a href="#/operations/connect">${s("welcome.connect")}</a></p>
    <${g} error=${o} /></section>`}var Vr=100;function Yr(){let{databases:e,error:t}=y(Se);return ls(Qn,[]),e?e.length===0?be`<${Gr} />`:be`<h1 class="visually-hidden">${s("nav.home")}</h1><${kc} databases=${e} /><${vc} />
    <${Cc} databases=${e} />`:t?be`<${g} error=${t} retry=${j} />`:be`<${I} lines=${8} />`}function kc({databases:e}){let t=y(It),{at:n,seen:o}=y(ke),[r,a]=oo(null),i=Math.floor(n/60);ls(()=>{let p=new AbortController;return E("/forecast",{query:{by:"hour",count:24},signal:p.signal}).then(a,()=>{}),()=>p.abort()},[e,i]);let l=e.flatMap(p=>p.containers),{rate:c,slowest:u,errors:m,backlog:d,lag:$}=Zn(t);return be`<section class="figures" aria-label=${s("home.figures")}>
    <${un} label=${s("home.items")} value=${gt(no(l,"items"))} detail=${V(no(l,"bytes"))} />
    <${un} label=${s("home.containers")} value=${S(l.length)} detail=${s("home.databases",{n:e.length})} />
    <${un} label=${s("home.soon")} value=${r?Qr(r,Xr(r)):"…"}
      detail=${r?V(no(r.buckets,"bytes")):""} href=${R("lifetime")} />
    <${un} label=${s("home.requests")} value=${s("home.rate",{n:Hr(c)})}
      detail=${m?s("home.errors",{n:m}):s("home.slowest",{ms:Hr(u)})} bad=${m>0} />
    <${un} label=${s("home.backlog")} value=${gt(d)} detail=${$>0?s("home.lag",{time:Ie($)}):s("home.nolag")} />
  </section>`}var no=(e,t)=>e.reduce((n,o)=>n+(o[t]??0),0),Xr=e=>no(e.buckets,"documents"),Hr=e=>e>=100?Math.round(e):Math.round(e*10)/10,Qr=(e,t)=>(e.exact?"":"≈ ")+gt(t);function un({label:e,value:t,detail:n,href:o,bad:r}){let a=be`<span class="label">${e}</span><span class="value">${t}</span>
    <span class=${r?"detail bad":"detail"}>${n}</span>`;return o?be`<a class="figure" href=${o}>${a}</a>`:be`<div class="figure">${a}</div>`}function vc(){let e=y(It),t=wc(()=>xc(e.slice(-300)),[e]),n=()=>({cursor:{points:{show:!1}},legend:{show:!1},scales:{requests:{range:(o,r,a)=>[0,Math.max(a,5)]},ms:{range:(o,r,a)=>[0,Math.max(a,1)]}},axes:[to(),it({scale:"requests",size:44}),it({scale:"ms",side:1,size:50,grid:{show:!1}})],series:[{},{scale:"requests",stroke:Xe(0),fill:Xe(0,.14),width:1.5},{scale:"ms",stroke:Xe(1),width:1.5}]});return be`<section class="panel traffic" aria-labelledby="traffic">
    <h2 id="traffic">${s("home.traffic")}</h2>
    <p class="legend"><span class="key one"></span>${s("home.traffic.requests")} <span class="key two"></span>${s("home.traffic.latency")}</p>
    <${Ut} make=${n} data=${t} height=${130} label=${s("home.traffic.label")} /></section>`}function xc(e){return[e.map(t=>t.time),e.map(t=>t.nosql.requests+t.mongo.requests),e.map(t=>Math.max(t.nosql.p99Ms,t.mongo.p99Ms))]}var Sc={name:(e,t)=>`${e.database}/${e.id}`.localeCompare(`${t.database}/${t.id}`),items:(e,t)=>t.items-e.items,bytes:(e,t)=>t.bytes-e.bytes};function Cc({databases:e}){let[t,n]=oo("name"),[o,r]=oo(Vr),a=e.flatMap(l=>l.containers).sort(Sc[t]),i=(l,c)=>be`<th class=${c?"number":""} aria-sort=${t===l?c?"descending":"ascending":void 0}>
    <button class="quiet" onClick=${()=>n(l)}>${s(`home.column.${l}`)}</button></th>`;return be`<section class="panel"><h2>${s("home.containers")}</h2><div class="scroll" tabindex="0" role="region" aria-label=${s("home.containers")}>
    <table class="home-table"><thead><tr>${i("name")}<th>${s("container.dialect")}</th>${i("items",!0)}${i("bytes",!0)}
      <th>${s("home.column.policy")}</th><th class="number">${s("home.soon")}</th></tr></thead>
    <tbody>${a.slice(0,o).map(l=>be`<${Oc} key=${`${l.database}/${l.id}`} container=${l} />`)}</tbody></table></div>
    ${a.length>o&&be`<button onClick=${()=>r(o+Vr)}>${s("home.more",{n:a.length-o})}</button>`}
    ${a.length===0&&be`<p class="hint">${s("home.nocontainers")}</p>`}</section>`}function Oc({container:e}){let{database:t,id:n}=e,[o,r]=oo(null),a=Ge(c=>Math.floor(c/60)),i=`${e.items}/${e.bytes}/${e._etag}`;ls(()=>{if(e.view)return;let c=new AbortController;return E(`${ie(t,n)}/forecast`,{query:{by:"hour",count:24},signal:c.signal}).then(r,()=>{}),()=>c.abort()},[i,a]);let l=o?Xr(o):0;return be`<tr>
    <th scope="row"><a class="name" title=${`${t}/${n}`} href=${R("c",t,n,"items")}><span class="of">${t} /</span> ${n}</a></th>
    <td>${e.dialect==="mongodb"?"MongoDB":"NoSQL"}${e.view?` · ${s("home.view")}`:""}</td>
    <td class="number">${e.view?"":S(e.items)}</td>
    <td class="number">${e.view?"":V(e.bytes)}</td>
    <td><a class="plain" href=${R("c",t,n,"settings")}>${He(e)}</a></td>
    <td class="number">${o&&(l>0?be`<a class="ending" href=${R("c",t,n,"lifetime")}>${Qr(o,l)}</a>`:"–")}</td></tr>`}import{html as X,useCallback as Qu,useEffect as ko,useMemo as vo,useRef as ks,useState as tt}from"../vendor/preact.js";import{html as ps,useRef as Tc,useState as Nc,useEffect as Ic}from"../vendor/preact.js";var so=["_rid","_self","_etag","_attachments","_ts"],q=e=>e.dialect==="mongodb",ro=e=>JSON.isRawJSON?.(e)??!1,te=e=>typeof e=="object"&&e!==null&&!Array.isArray(e)&&!ro(e),cs=e=>Object.keys(e)[0]?.startsWith("$")??!1,zt=e=>typeof e=="number"||ro(e),Qe=e=>JSON.parse(e,(t,n,o)=>typeof n=="number"&&o&&!Number.isSafeInteger(n)&&/^-?\d+$/.test(o.source)?on(o.source):n),Kt=e=>JSON.stringify(e,null,2),us=e=>[...e.matchAll(/\/(?:"((?:[^"\\]|\\.)*)"|([^/]*))/g)].map(t=>t[1]??t[2]),wt=e=>(e.partitionKey?.paths??[]).map(us);function lt(e,t){for(let n of t){if(!te(e)||!Object.hasOwn(e,n))return;e=e[n]}return e}function Zr(e,t){let n=e;for(let o of t.slice(0,-1)){if(!Object.hasOwn(n,o))return!0;if(n=n[o],!te(n)||cs(n))return!1}return!Array.isArray(n[t.at(-1)])}function At(e,t,n){let o=e;for(let r of t.slice(0,-1))te(o[r])||(o[r]={}),o=o[r];o[t.at(-1)]=n}var ao=(e,t,n)=>`${ie(e,t.id)}/items/${encodeURIComponent(n.id).replace(/^\.+$/,o=>o.replaceAll(".","%2E"))}`,dn=e=>({partitionKey:e.key&&JSON.stringify(e.key)}),io=e=>e.key?{id:e.id,pk:JSON.stringify(e.key)}:{id:e.id};function ms(e){let t=e.get("id");if(t===null)return null;let n;try{n=e.has("pk")?Qe(e.get("pk")):void 0}catch{}return{id:t,key:Array.isArray(n)?n:void 0}}var lo=(e,t)=>!!e&&e.id===t.id&&(!e.key||Wt(e.key,t.key)),Wt=(e,t)=>JSON.stringify(e)===JSON.stringify(t);function qe({id:e,key:t}){if(t)return t.length===1&&t[0]===e?e:`${e} · ${t.map(mn).join(", ")}`;try{return e.startsWith("{")?mn(Qe(e)):e}catch{return e}}function mn(e){if(e===null)return"null";if(typeof e=="string")return e;if(te(e)){let t=Object.keys(e),n=t.length===1?e[t[0]]:void 0;if(typeof n=="string"&&/^\$(oid|date|numberDecimal|numberDouble|numberLong|numberInt|uuid|symbol)$/.test(t[0]))return n;if(n?.subType==="04"&&t[0]==="$binary")return Ec(n.base64);if(t[0]==="$date"&&typeof n?.$numberLong=="string")return`${n.$numberLong} ms`}return JSON.stringify(e)}function Gt(e){return te(e)?Object.fromEntries(Object.entries(e).filter(([t])=>!so.includes(t))):e}function Ec(e){try{return ea([...atob(e)].map(t=>t.charCodeAt(0)))}catch{return e}}var ea=e=>[...e].map(t=>t.toString(16).padStart(2,"0")).join("").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/,"$1-$2-$3-$4-$5");function ds(){let e=crypto.getRandomValues(new Uint8Array(16));return e[6]=e[6]&15|64,e[8]=e[8]&63|128,ea(e)}var Ac=8,Rc=4,qc=300,H=e=>JSON.stringify(e),Vt=e=>e.map(t=>/^[^.\s"]+$/.test(t)?t:JSON.stringify(t)).join(".");function Ht(e){let t=[q(e)?"_id":"id"];return co([t,...wt(e)])}function co(e){let t=new Set;return e.filter(n=>!t.has(H(n))&&t.add(H(n)))}function ta(e,t,n){for(let[o,r]of Object.entries(e)){if(n.size>=qc)return;let a=[...t,o];n.has(H(a))||n.set(H(a),a),te(r)&&!cs(r)&&a.length<Rc&&ta(r,a,n)}}function na(e,t){let n=new Map(Ht(e).map(a=>[H(a),a]));for(let a of t)te(a)&&ta(a,[],n);let o=[...n.values()],r=a=>!q(e)&&a.length===1&&so.includes(a[0]);return[...o.filter(a=>!r(a)),...o.filter(r)]}function oa(e,t,n){if(n)return co([...Ht(e),...n]);let o=Ht(e),r=t.filter(a=>a.length===1&&(q(e)||!so.includes(a[0])));return co([...o,...r]).slice(0,Ac)}function sa(e,t){let n=!1;for(let o of e){let r=lt(o,t);if(r!=null){if(!zt(r))return!1;n=!0}}return n}function ra(e,t){if(!q(e))return"yes";if(t.some(o=>o.includes(".")||o.startsWith("$")))return"no";let n=t.join(".");return n==="_id"||(e.indexes??[]).some(o=>Object.keys(o.key)[0]===n)?"yes":"slow"}function aa({all:e,shown:t,fixed:n,onChoose:o,chosen:r}){let[a,i]=Nc(!1),l=Tc(null);Ic(()=>{if(!a)return;let p=f=>{l.current.contains(f.target)||i(!1)};return addEventListener("pointerdown",p),l.current.querySelector("input:not(:disabled)")?.focus(),()=>removeEventListener("pointerdown",p)},[a]);let c=p=>{p.key==="Escape"&&(p.stopPropagation(),i(!1),l.current.querySelector("button").focus())},u=new Set(t.map(H)),m=new Set(n.map(H)),d=co([...e,...t]),$=p=>o(u.has(H(p))?t.filter(f=>H(f)!==H(p)):[...t,p]);return ps`<div class="picker" ref=${l} onKeyDown=${a?c:void 0}>
    <button aria-expanded=${a} aria-haspopup="true" onClick=${()=>i(!a)}>${s("items.columns")}
      <span class="count">${t.length}</span></button>
    ${a&&ps`<div class="picker-list" role="group" aria-label=${s("items.columns")}>
      ${d.map(p=>ps`<label key=${H(p)} class="choice depth-${p.length}">
        <input type="checkbox" checked=${u.has(H(p))} disabled=${m.has(H(p))} onChange=${()=>$(p)} />
        <span class="ellipsis" title=${Vt(p)}>${Vt(p)}</span></label>`)}
      <button class="quiet" disabled=${!r} onClick=${()=>o(null)}>${s("items.columns.reset")}</button></div>`}
  </div>`}import{html as Me,useEffect as pa,useRef as Jc,useState as po}from"../vendor/preact.js";var la=(e,t)=>te(e)&&Object.keys(e).length===1&&typeof e[t]=="string",Dc=["$numberInt","$numberLong","$numberDouble"],ca=e=>Dc.find(t=>la(e,t)),Mc=e=>e>=0&&e<=Date.parse("9999-12-31T23:59:59.999Z");function De(e){if(Array.isArray(e))return e.map(De);if(!te(e))return e;let t=ca(e);if(t==="$numberDouble"&&!Number.isFinite(Number(e[t])))return e;if(t)return t==="$numberLong"?jc(e[t]):Number(e[t]);let n=Object.keys(e).length===1&&e.$date?.$numberLong;return typeof n=="string"&&Mc(Number(n))?ia(Number(n)):la(e,"$date")&&!Number.isNaN(Date.parse(e.$date))?ia(Date.parse(e.$date)):Object.fromEntries(Object.entries(e).map(([o,r])=>[o,De(r)]))}var ia=e=>({$date:new Date(e).toISOString().replace(".000Z","Z")}),jc=e=>Number.isSafeInteger(Number(e))?Number(e):on(e);function Yt(e,t){if(t===void 0)return e;if(JSON.stringify(e)===JSON.stringify(De(t)))return t;let n=ca(t);return n&&zt(e)?Lc(e,n):Array.isArray(e)&&Array.isArray(t)?e.map((o,r)=>Yt(o,t[r])):!te(e)||!te(t)?e:Object.fromEntries(Object.entries(e).map(([o,r])=>[o,Yt(r,Object.hasOwn(t,o)?t[o]:void 0)]))}function Lc(e,t){let n=JSON.stringify(e);return/^-?\d+$/.test(n)?t==="$numberInt"&&Math.abs(Number(n))>2147483647?{$numberLong:n}:{[t]:n}:{$numberDouble:n}}var _c=e=>e===void 0||te(e)||Array.isArray(e)?{}:e;function uo(e,t){return q(e)?{id:Pc(De(t._id))}:{id:t.id,key:wt(e).map(n=>_c(lt(t,n)))}}function Pc(e){if(typeof e=="string")return e;if(!zt(e))return JSON.stringify(e);let t=JSON.stringify(e);return JSON.stringify(ro(e)||Number.isSafeInteger(e)?{$numberLong:t}:{$numberDouble:t})}var $s=(e,t,n)=>E(`${ie(e,t.id)}/lifetime/explain`,{query:{id:n.id,...dn(n)}});async function fs(e,t,{body:n,headers:o}){let r=o.get("X-Mayfly-Expires-At"),a={item:n,name:uo(t,n),etag:o.get("ETag"),hint:o.get("X-Mayfly-Hint"),deadline:r?Date.parse(r)/1e3:null};return q(t)&&!t.view&&(a.deadline=await Fc(e,t,a.name)),a}async function Fc(e,t,n){try{return(await $s(e,t,n)).deadline?.unix??null}catch(o){if(o.status===404)return null;throw o}}var hs=e=>q(e)?{format:"canonical"}:{};async function pn(e,t,n,o){let r={...dn(n),...hs(t)};return fs(e,t,await G("GET",ao(e,t,n),{query:r,signal:o}))}async function ua(e,t,n,o){let r=q(t)?Yt(n,o):Gt(n);return fs(e,t,await G("POST",`${ie(e,t.id)}/items`,{query:hs(t),body:r}))}var kt=class extends Error{constructor(t){super("conflict"),this.theirs=t}};function Bc(e,t,n){if(!q(e))return Gt(n);let{_id:o,...r}=Yt(n,t.item);return r}async function mo(e,t,n,o){try{return await fs(e,t,await G("PUT",ao(e,t,n.name),{query:{...dn(n.name),...hs(t)},body:Bc(t,n,o),headers:{"If-Match":n.etag}}))}catch(r){throw r.status!==412?r:new kt(await pn(e,t,n.name))}}function ma(e,t){return t._id===void 0||JSON.stringify(Yt(t._id,e.item._id))===JSON.stringify(e.item._id)}var da=(e,t,n)=>G("DELETE",ao(e,t,n),{query:dn(n)});var Uc=e=>e.defaultTtl!==void 0&&e.defaultTtl!==null;function zc(e,t){let n=q(e)?De(t).ttl:t.ttl;return Number.isInteger(n)&&(n>0||n===-1)?n:e.defaultTtl}function Kc(e,t){let n=[],o=zc(e,t);if(Uc(e)){let r=e.ttlPropertyPath&&us(e.ttlPropertyPath);r&&typeof lt(t,r)=="number"?n.push({name:"property",path:r.join("."),life:o,edit:(a,i)=>At(a,r,i)}):o>0&&n.push({name:"rewrite",life:o,edit:()=>{}}),n.push({name:"ttl",asks:!0,edit:(a,i,l)=>{a.ttl=l}}),n.push({name:"never",life:-1,edit:a=>{a.ttl=-1}})}for(let{field:r,expireAfterSeconds:a}of Bt(e)){let i=r.split(".");Zr(t,i)&&n.push({name:"date",path:r,life:a,edit:(l,c)=>At(l,i,{$date:{$numberLong:String(c*1e3)}})})}return n}function $a({db:e,container:t,name:n,onSaved:o,onClose:r}){let{data:a,error:i,reload:l}=M(O=>pn(e,t,n,O),[JSON.stringify(n)]),c=a&&te(a.item)?Kc(t,a.item):[],[u,m]=po(0),[d,$]=po("1h"),p=Jc(null);pa(()=>{Tt()},[]),pa(()=>p.current?.querySelector("input")?.focus(),[!!a]);let[f,h]=po(null),[b,C]=po(!1),k=Ft(),v=c[u],w=v?.asks?Ve(d):v?.life,_=!!v&&!b&&(v.asks?w>0&&w<=2147483647:!0),fe=async O=>{if(O.preventDefault(),!!_){C(!0),h(null);try{await Tt();let A=Qe(JSON.stringify(a.item));v.edit(A,Math.floor(_t()),w);let U=await mo(e,t,a,A);T(U.deadline===null?s("items.extended.never",{name:qe(n)}):s("items.extended",{name:qe(n),time:N(U.deadline),left:Ie(U.deadline-Math.floor(_t()))}),"good"),o(U),r()}catch(A){A instanceof kt&&l();let U={status:412,kind:"conflict",message:s("items.extend.changed")};h(A instanceof kt?Object.assign(A,U):A),C(!1)}}};return Me`<${B} title=${s("items.extend.title",{name:qe(n)})} onClose=${r} footer=${Me`<button
      onClick=${r}>${s("cancel")}</button>
      <button class="primary" disabled=${!_} onClick=${fe}>${s("items.extend")}</button>`}>
    ${i&&Me`<${g} error=${i} retry=${l} />`}
    ${!a&&!i&&Me`<${I} lines=${4} />`}
    ${a&&Me`<p>${s("items.extend.now")} <${Re} deadline=${a.deadline} />
      ${a.deadline!==null&&Me` <span class="hint">${N(a.deadline)}</span>`}<br />
      <span class="hint">${He(t)}</span></p>
      ${c.length===0&&Me`<p>${s(Bt(t).length?"items.extend.lists":"items.extend.off")} <a
          href=${R("c",e,t.id,"settings")}>${s("tab.settings")}</a></p>`}
      <form ref=${p} onSubmit=${fe}><fieldset class="field"><legend class="visually-hidden">${s("items.extend")}</legend>
        ${c.map((O,A)=>Me`<label class="choice"><input type="radio" name="way" checked=${A===u}
          onChange=${()=>m(A)} />${s(`items.extend.${O.name}`,{path:O.path,life:O.life>0?he(O.life):""})}</label>`)}</fieldset>
        ${v?.asks&&Me`<label class="field">${s("ttl.life")}<input value=${d} onInput=${O=>$(O.target.value)}
            spellcheck="false" />
          <small>${w>0?he(w):s("ttl.invalid")}</small></label>`}</form>
      ${v&&Me`<${Wc} at=${k} life=${w} />`}`}
    <${g} error=${f} /><//>`}function Wc({at:e,life:t}){return t===-1?Me`<p class="new-end">${s("items.extend.neverEnds")}</p>`:t>=0?Me`<p class="new-end">${s("items.extend.ends")} <time title=${F(e+t)}>${N(e+t)}</time></p>`:null}import{html as $n,useEffect as Gc,useState as fa}from"../vendor/preact.js";var $o="SELECT * FROM c WHERE ";function ha(e,t,n,o){if(o)return{span:o};let r=t.trim();if(q(e)){let a={filter:r?ga(r):{}};return n&&(a.sort={[n.steps.join(".")]:n.direction==="ascending"?1:-1}),{find:a}}return{sql:(r?$o+r.replace(/^where\s+/i,""):"SELECT * FROM c")+(n?Vc(n):"")}}var Vc=({steps:e,direction:t})=>` ORDER BY c${e.map(n=>`[${JSON.stringify(n)}]`).join("")} ${t==="ascending"?"ASC":"DESC"}`;function ga(e){let t;try{t=Qe(e)}catch(n){throw new Error(s("items.filter.json",{message:n.message}))}if(!te(t))throw new Error(s("items.filter.object"));return t}function Hc(e,t){if(!t||!e?.message)return e;let n=e.message.replace(/\(from character (\d+) to (\d+)\)/,(o,r,a)=>r<$o.length?o:`(from character ${r-$o.length} to ${a-$o.length})`);return n===e.message?e:Object.assign(Object.create(e),{message:n})}function ba({container:e,value:t,onApply:n,error:o,onRetry:r,sorted:a,onUnsort:i}){let[l,c]=fa(t),[u,m]=fa(null);Gc(()=>c(t),[t]);let d=q(e),$=h=>{h?.preventDefault(),m(null);try{d&&l.trim()&&ga(l),n(l.trim())}catch(b){m(b.message)}},p=()=>{c(""),m(null),n("")},f=u??(o?.status===400?Hc(o,t&&!d).message:null);return $n`<form class="filter" role="search" onSubmit=${$}>
      <label class="filter-field"><span class="filter-lead" aria-hidden="true">${d?"find":"WHERE"}</span>
        <input id="items-filter" class="mono" value=${l} onInput=${h=>c(h.target.value)} spellcheck="false" autocomplete="off"
          aria-label=${s(d?"items.filter.mongo":"items.filter.sql")} aria-invalid=${f?"true":void 0}
          aria-describedby=${f?"items-filter-error":void 0}
          placeholder=${d?'{"total": {"$gt": 5}}':"c.total > 5"}
              onKeyDown=${h=>{h.key==="Escape"&&h.target.blur()}} /></label>
      <button type="submit">${s("items.filter")}</button>
      ${(t||l)&&$n`<button type="button" class="quiet" onClick=${p}>${s("items.filter.clear")}</button>`}
    </form>
    ${f&&$n`<div class="failure" id="items-filter-error" role="alert">${f}
      ${a&&!u&&$n` <button onClick=${i}>${s("items.sort.remove")}</button>`}</div>`}
    ${o&&o.status!==400&&$n`<${g} error=${o} retry=${r} />`}`}import{html as Ce,useEffect as Xc,useMemo as gs}from"../vendor/preact.js";import{html as Pe}from"../vendor/preact.js";function fo({db:e,container:t,name:n,version:o,onClose:r}){let{data:a,error:i,reload:l}=M(()=>$s(e,t,n),[JSON.stringify(n),o]);return Pe`<section class="why" aria-label=${s("items.why")} aria-live="polite">
    <div class="why-head"><h3>${s("items.why")}</h3>
      <button class="quiet" aria-label=${s("items.why.close")} onClick=${r}>✕</button></div>
    ${i&&Pe`<${g} error=${i} retry=${l} />`}
    ${!a&&!i&&Pe`<${I} lines=${3} />`}
    ${a&&Pe`<${Yc} db=${e} container=${t} data=${a} />`}</section>`}function Yc({db:e,container:t,data:n}){let o=n.rules.filter(r=>n.rules.length>1||r.sentence!==n.sentence);return Pe`<p class="sentence"><strong>${n.sentence}</strong>${" "}
      <${Re} deadline=${n.deadline?.unix??null} />
      ${n.deadline&&Pe` <time class="hint" title=${n.deadline.time}>${N(n.deadline.unix)}</time>`}</p>
    ${n.remedy&&Pe`<p class="remedy"><span class="badge">${s("items.remedy")}</span> ${n.remedy}</p>`}
    ${o.length>0&&Pe`<ul class="rules">${o.map(r=>Pe`<li class=${r.ends?"ends":"not"}>
      <span class="badge ${r.ends?"warn":""}">${s(`items.rule.${r.rule}`)}</span> ${r.sentence}
      ${r.deadline&&Pe` <time class="hint" datetime=${r.deadline.time}
          title=${r.deadline.time}>${N(r.deadline.unix)}</time>`}</li>`)}</ul>`}
    ${(n.notes??[]).map(r=>Pe`<p class="hint">${r}</p>`)}
    <p class="hint"><time title=${F(n.written.unix)}>${s("items.written",{time:N(n.written.unix)})}</time> ·${" "}
      ${n.policy} <a href=${R("c",e,t.id,"settings")}>${s("tab.settings")}</a></p>`}var Qc=1600;function Zc(e,t){if(typeof e!="number")return 0;let n=e-t;return n<=0?5:n>60?0:4-Math.floor(n/16)}function eu(e,t){return e===null||e===""?"code":typeof e=="string"?"text":/^[[{]/.test(t)?"code":"value"}function tu({item:e,steps:t,numeric:n}){let o=lt(e,t);if(o===void 0)return Ce`<td></td>`;let r=o===""?'""':mn(o),a=n?"number":eu(o,r);return Ce`<td class=${a} title=${r.length>30?r.slice(0,1e3):void 0}>${r.slice(0,200)}</td>`}function nu({row:e,columns:t,numeric:n,opened:o,ends:r,onGone:a}){let i=Ge(m=>Zc(e.deadline,m));Xc(()=>{if(i<5)return;let m=setTimeout(()=>a(e.key),Qc);return()=>clearTimeout(m)},[i===5]);let[l,...c]=t,u=mn(lt(e.item,l)??null);return Ce`<tr data-key=${e.key} data-phase=${i} aria-current=${o?"true":void 0}>
    <th scope="row"><button class="open" title=${u}
        aria-label=${s("items.open",{name:qe(e.name)})}>${u.slice(0,200)}</button></th>
    ${r&&Ce`<td class="life">${e.deadline!==!1&&Ce`<${Re} deadline=${e.deadline} />`}</td>`}
    ${c.map(m=>Ce`<${tu} key=${H(m)} item=${e.item} steps=${m}
        numeric=${n.has(H(m))} />`)}</tr>`}function ou({container:e,steps:t,numeric:n,sort:o,onSort:r,sortable:a}){let i=Vt(t),l=o&&H(o.steps)===H(t)?o.direction:null,c=a?ra(e,t):"no",u={yes:s("items.sort"),slow:s("items.sort.noIndex",{name:i}),no:void 0}[c];return Ce`<th scope="col" class=${n?"number":""} aria-sort=${l??void 0}>
    ${c==="no"?Ce`<span>${i}</span>`:Ce`<button class="sort" title=${u} onClick=${()=>r(t,c)}>
      ${i}<span aria-hidden="true">${l?l==="ascending"?"▲":"▼":""}</span></button>`}</th>`}function ya({db:e,container:t,rows:n,columns:o,sort:r,onSort:a,opened:i,why:l,onWhy:c,onOpen:u,onGone:m,busy:d,sortable:$}){let p=gs(()=>n.map(k=>k.item),[n]),f=gs(()=>new Set(o.slice(1).filter(k=>sa(p,k)).map(H)),[p,o]),h=!t.view,b=k=>{let v=k.target.closest("tr[data-key]")?.dataset.key,w=n.find(_=>_.key===v);w&&getSelection().isCollapsed&&u(w)},C=gs(()=>n.flatMap(k=>[Ce`<${nu} key=${k.key} row=${k} columns=${o} numeric=${f} ends=${h} onGone=${m}
      opened=${lo(i,k.name)} />`,k.key===l&&Ce`<tr key=${`why ${k.key}`} class="why-row"><td colspan=${o.length+1}>
      <${fo} db=${e} container=${t} name=${k.name} onClose=${()=>c(null)} /></td></tr>`]),[n,o,f,i&&JSON.stringify(i),l,ht()]);return Ce`<div class="scroll grid" aria-busy=${d}><table aria-label=${s("items.label",{name:t.id})}>
    <thead><tr>${o.flatMap((k,v)=>[Ce`<${ou} container=${t} steps=${k} numeric=${f.has(H(k))} sort=${r} onSort=${a}
        sortable=${$} />`,v===0&&h&&Ce`<th scope="col" class="life">${s("items.left")}</th>`])}</tr></thead>
    <tbody onClick=${b}>${C}</tbody></table></div>`}function fn(e,t){let n=[...document.querySelectorAll(".grid tr[data-key]")],o=n.findIndex(i=>i.contains(document.activeElement)),r=o>=0?o:n.findIndex(i=>i.dataset.key===t),a=n[r<0?e<0?n.length-1:0:Math.min(Math.max(r+e,0),n.length-1)];return a?.querySelector(".open").focus(),a?.dataset.key}import{useCallback as wa,useEffect as su,useRef as ka,useState as ru}from"../vendor/preact.js";var au=20;function va(e,t,n,o){let[r,a]=ru({rows:null,page:0,error:null,loading:!0}),i=ka([void 0]),l=ka(null),c=wa(async(m,d)=>{l.current?.abort();let $=l.current=new AbortController;d&&(i.current=[void 0]),a(f=>({...f,loading:!0,error:null}));let p=performance.now();try{let f=d||m!==i.current.length-1&&q(t)&&!n.span?void 0:i.current[m],h=await iu(e,t,n,{page:m,size:o,token:f,signal:$.signal});i.current=[...i.current.slice(0,m+1),...h.continuation?[h.continuation]:[]],a({...h,page:m,error:null,loading:!1,more:!!h.continuation,took:performance.now()-p})}catch(f){$.signal.aborted||a(h=>({...h,error:f,loading:!1}))}},[e,t.id,JSON.stringify(n),o]);su(()=>(c(0,!0),()=>l.current?.abort()),[c]);let u=wa(m=>a(d=>({...d,rows:d.rows&&m(d.rows)})),[]);return{...r,load:c,change:u,reload:()=>c(r.page)}}async function iu(e,t,n,o){if(n.span)return lu(e,t,n.span,o);let{page:r,size:a,signal:i}=o,{token:l}=o,c=[],u=0;for(let m=0;m<au;m++){let d={...n,max:a-c.length,continuation:l,lifetimes:!t.view};n.find&&l===void 0&&(d.find={...n.find,skip:r*a});let $;try{$=await P(`${ie(e,t.id)}/query`,d,{signal:i})}catch(p){if(!n.find||l===void 0||p.status!==404)throw p;l=void 0;continue}if(hr($.now),u+=$.requestCharge??0,c.push(...$.items.map((p,f)=>ho(t,p,$.lifetimes?.[f]??null))),l=$.continuation,l===void 0||c.length>=a||n.find)break}return{rows:c,continuation:l,charge:n.sql?u:void 0}}async function lu(e,t,n,{size:o,token:r,signal:a}){let i=await E(`${ie(e,t.id)}/expiring`,{query:{...n,max:o,continuation:r},signal:a});return{rows:i.items.map(l=>ho(t,cu(t,l),l.deadline)),continuation:i.continuation,exact:i.exact}}function cu(e,t){if(q(e))return{_id:t._id};let n={id:t.id};return wt(e).forEach((o,r)=>{let a=t.partitionKey?.[r];a!==void 0&&JSON.stringify(a)!=="{}"&&o.join()!=="id"&&At(n,o,a)}),n}function ho(e,t,n){let o=uo(e,t);return{item:t,name:o,key:t._rid??JSON.stringify(o),deadline:n}}import{html as hn}from"../vendor/preact.js";var uu=[25,100,250,500,1e3],go=pe("items.pageSize",100);function xa({pages:e,total:t,left:n}){let{rows:o,page:r,more:a,loading:i,load:l,charge:c,took:u}=e,m=y(go);return hn`<nav class="pager" aria-label=${s("items.pages")}>
    <button disabled=${r===0||i} onClick=${()=>l(r-1)} aria-label=${s("items.previous")}>‹</button>
    <span role="status">${s("items.page",{page:r+1})}<span class="wide-only"> · ${s("items.rows",{n:o.length})}${t==null?"":` ${s("items.of",{n:t})}`}</span></span>
    <button disabled=${!a||i} onClick=${()=>l(r+1)} aria-label=${s("items.next")}>›</button>
    <label class="size"><span class="wide-only">${s("items.size")}</span>
      <select aria-label=${s("items.size")} value=${m} onChange=${d=>go.set(Number(d.target.value))}>
        ${uu.map(d=>hn`<option value=${d} selected=${d===m}>${S(d)}</option>`)}</select></label>
    ${n>0&&hn`<span class="hint">${s("items.left.count",{n})}</span>`}
    <span class="hint cost">${i?hn`<${Ye} />`:hn`${S(Math.round(u??0))} ms${c===void 0?"":` · ${S(c,{maximumFractionDigits:2})} RU`}`}</span></nav>`}import{html as K,useEffect as _u,useRef as Pu,useState as vt}from"../vendor/preact.js";import{html as Ca,useEffect as Sa,useLayoutEffect as bo,useRef as ct}from"../vendor/preact.js";import{EditorState as Rt,EditorView as ut,Compartment as Oa,Prec as mu,keymap as bs,lineNumbers as Ea,drawSelection as Ta,highlightActiveLine as du,highlightSpecialChars as Na,placeholder as pu,defaultKeymap as Ia,history as Aa,historyKeymap as Ra,indentWithTab as qa,bracketMatching as Da,foldGutter as $u,foldKeymap as fu,indentOnInput as hu,syntaxHighlighting as Ma,HighlightStyle as gu,tags as Ze,json as yo,sql as bu,SQLDialect as yu,autocompletion as wu,closeBrackets as ku,closeBracketsKeymap as vu,completionKeymap as xu,linter as Su,lintGutter as Cu,setDiagnostics as Ou,search as Eu,searchKeymap as Tu,highlightSelectionMatches as Nu,MergeView as Iu}from"../vendor/codemirror.js";var Au=yu.define({keywords:"select distinct top value as from in where join order by asc desc group having offset limit and or not between like escape exists array udf null true false undefined",types:"",doubleQuotedStrings:!0,operatorChars:"+-*/%<>!=&|^~?",identifierQuotes:""}),ja=gu.define([{tag:Ze.keyword,color:"var(--code-keyword)"},{tag:[Ze.string,Ze.special(Ze.string)],color:"var(--code-string)"},{tag:[Ze.number,Ze.bool,Ze.null],color:"var(--code-number)"},{tag:Ze.propertyName,color:"var(--code-name)"},{tag:[Ze.comment],color:"var(--muted)"},{tag:Ze.invalid,color:"var(--bad)"}]),La=ut.theme({"&":{color:"var(--text)",backgroundColor:"var(--field)",fontSize:"13px",height:"100%",flex:"1",minWidth:"0"},"&.cm-focused":{outline:"none"},".cm-scroller":{fontFamily:"var(--mono)",lineHeight:"1.55"},".cm-content":{caretColor:"var(--text)",padding:"8px 0"},".cm-cursor":{borderLeftColor:"var(--text)"},".cm-gutters":{backgroundColor:"var(--field)",color:"var(--muted)",border:"none"},".cm-activeLine, .cm-activeLineGutter":{backgroundColor:"var(--hover)"},"&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":{backgroundColor:"var(--selection)"},".cm-tooltip":{backgroundColor:"var(--surface)",border:"1px solid var(--line)",color:"var(--text)"},".cm-tooltip-autocomplete > ul > li[aria-selected]":{backgroundColor:"var(--accent)",color:"var(--on-accent)"},".cm-panels":{backgroundColor:"var(--surface)",color:"var(--text)"},".cm-placeholder":{color:"var(--muted)"}});function ys(e){try{return JSON.parse(e),null}catch(t){let n=Number(/position (\d+)/.exec(t.message)?.[1]??-1);yo().language.parser.parse(e).iterate({enter:a=>{n<0&&a.type.isError&&(n=a.from)}});let o=n<0?e.length:Math.min(n,e.length),r=t.message.replace(/\s*(in JSON )?at position.*$/s,"").replace(/,? (\.\.\.)?".*is not valid JSON$/s,"");return{from:o,to:Math.min(o+1,e.length),message:r}}}var Ru=e=>{let t=e.trim()?ys(e):null;return t?[{...t,severity:"error"}]:[]},qu=ut.domEventHandlers({beforeinput(e,t){if(e.inputType!=="insertText"||!e.data||e.isComposing||t.state.readOnly)return!1;Du(t);let{from:n,to:o,empty:r}=t.state.selection.main;if(r)return!1;let a=()=>t.state.update(t.state.replaceSelection(e.data),{userEvent:"input.type",scrollIntoView:!0});return t.state.facet(ut.inputHandler).some(l=>l(t,n,o,e.data,a))||t.dispatch(a()),!0}});function Du(e){let t=e.root.getSelection?.();if(!t||t.isCollapsed||!e.contentDOM.contains(t.anchorNode)||!e.contentDOM.contains(t.focusNode))return;let n=e.posAtDOM(t.anchorNode,t.anchorOffset),o=e.posAtDOM(t.focusNode,t.focusOffset),{main:r}=e.state.selection;(n!==r.anchor||o!==r.head)&&e.dispatch({selection:{anchor:n,head:o}})}var Mu={json:()=>[yo(),Su(({state:e})=>Ru(e.doc.toString()),{delay:300}),Cu()],pipeline:()=>[yo()],sql:()=>[bu({dialect:Au,upperCaseKeywords:!0})],text:()=>[]};function et({value:e,language:t="json",onChange:n,onRun:o,onSave:r,complete:a,errors:i,readOnly:l,label:c,placeholder:u,autofocus:m,handle:d}){let $=ct(null),p=ct(null),f=ct({});f.current={onChange:n,onRun:o,onSave:r,complete:a};let h=ct(new Oa),b=ct([]),C=ct(!1),k=v=>{b.current=[...b.current.slice(-20),v],f.current.onChange?.(v)};return bo(()=>{let v=$.current.shadowRoot??$.current.attachShadow({mode:"open"}),w=_=>()=>(f.current[_]?.(),!!f.current[_]);return p.current=new ut({root:v,parent:v,state:Rt.create({doc:e??"",extensions:[mu.highest(bs.of([{key:"Mod-Enter",run:w("onRun")},{key:"Mod-s",run:w("onSave"),preventDefault:!0}])),Ea(),$u(),Na(),Aa(),Ta(),hu(),Da(),ku(),du(),Nu(),Eu({top:!0}),wu({override:a?[_=>f.current.complete?.(_)]:void 0}),bs.of([...vu,...Ia,...Tu,...Ra,...fu,...xu,qa]),Mu[t](),Ma(ja),La,qu,ut.lineWrapping,Rt.tabSize.of(2),u?pu(u):[],ut.contentAttributes.of({"aria-label":c??"",spellcheck:"false",tabindex:"0"}),h.current.of([Rt.readOnly.of(!!l)]),ut.updateListener.of(_=>{_.docChanged&&!C.current&&k(_.state.doc.toString())})]})}),m&&p.current.focus(),d&&(d.current=p.current),()=>p.current.destroy()},[t]),Sa(()=>{let v=b.current.lastIndexOf(e);b.current=b.current.slice(v+1);let w=p.current.state.doc.toString();v>=0||e===void 0||e===w||(C.current=!0,p.current.dispatch({changes:{from:0,to:w.length,insert:e}}),C.current=!1)},[e]),bo(()=>{p.current.dispatch({effects:h.current.reconfigure([Rt.readOnly.of(!!l)])})},[l]),Sa(()=>{if(!i)return;let v=p.current.state.doc.length;p.current.dispatch(Ou(p.current.state,i.map(({from:w,to:_,message:fe})=>({from:Math.min(w,v),to:Math.min(Math.max(_??w,w),v),severity:"error",message:fe}))))},[i]),Ca`<div class="editor" ref=${$}></div>`}function _a({theirs:e,mine:t,labels:n,handle:o,readOnly:r}){let a=ct(null),i=ct(null),l=ct(new Oa);return bo(()=>{let c=a.current.shadowRoot??a.current.attachShadow({mode:"open"}),u=new CSSStyleSheet;u.replaceSync(`.cm-mergeView { flex: 1; min-width: 0; height: 100%; }
      .cm-mergeViewEditor::before { content: attr(data-label); display: block; font-weight: 600; padding: 6px 10px; }
      @media (max-width: 760px) {
        .cm-mergeViewEditors { flex-direction: column; }
        .cm-mergeViewEditor { overflow: visible; flex: none; }
      }`);let m=($,p,f)=>({doc:$,extensions:[Ea(),Na(),Aa(),Ta(),Da(),bs.of([...Ia,...Ra,qa]),yo(),Ma(ja),La,ut.lineWrapping,f,ut.contentAttributes.of({"aria-label":p,spellcheck:"false",tabindex:"0"})]}),d=new Iu({a:m(e,n[0],Rt.readOnly.of(!0)),b:m(t,n[1],l.current.of(Rt.readOnly.of(!!r))),parent:c,root:c,collapseUnchanged:{margin:3}});return i.current=d.b,c.adoptedStyleSheets=[...c.adoptedStyleSheets,u],[d.a,d.b].forEach(($,p)=>{$.dom.parentElement.dataset.label=n[p]}),o.current=()=>d.b.state.doc.toString(),()=>d.destroy()},[e]),bo(()=>{i.current.dispatch({effects:l.current.reconfigure(Rt.readOnly.of(!!r))})},[r]),Ca`<div class="editor compare" ref=${a}></div>`}import{html as ws,useRef as ju,useState as Lu}from"../vendor/preact.js";function Pa({theirs:e,mine:t,busy:n,error:o,problemOf:r,onMine:a,onTheirs:i,onClose:l}){let c=ju(null),[u,m]=Lu(null),d=()=>{let $=c.current(),p=r($);m(p),p||a($)};return ws`<${B} title=${s("items.conflict")} wide onClose=${l} footer=${ws`<button
      onClick=${l}>${s("cancel")}</button>
      <button disabled=${n} onClick=${i}>${s("items.conflict.theirs")}</button>
      <button class="primary" disabled=${n} onClick=${d}>${s("items.conflict.mine")}</button>`}>
    <p>${s("items.conflict.what")}</p>
    <${_a} theirs=${e} mine=${t} labels=${[s("items.conflict.stored"),s("items.conflict.yours")]} handle=${c}
      readOnly=${n} />
    ${u&&ws`<p class="problem" role="alert">${u}</p>`}
    <${g} error=${o} /><//>`}var Fa=pe("items.look",{system:!1,canonical:!1});function gn(e,t,n){return q(e)?Kt(n.canonical?t:De(t)):Kt(n.system?t:Gt(t))}function Fu(e){if(q(e))return`{
  
}`;let t={id:ds()};for(let n of wt(e))n.join()!=="id"&&At(t,n,"");return Kt(t)}function Bu(e,t){if(!q(e))return{text:Kt({...Gt(t),id:ds()})};let{_id:n,...o}=t;return{text:Kt(De(o)),like:o}}function Ba(e){let t=ys(e);if(!t)return te(Qe(e))?null:s("items.notObject");let n=e.slice(0,t.from).split(`
`);return s("items.syntax",{line:n.length,column:n.at(-1).length+1,message:t.message})}function Ja(e){let{db:t,container:n,name:o}=e,[r,a]=vt(0),{data:i,error:l,loading:c,reload:u}=M(p=>o?pn(t,n,o,p):Promise.resolve(null),[JSON.stringify(o),r]),m=o?qe(o):s("items.new"),d=Pu(null),$=p=>{p.key!=="Escape"||p.defaultPrevented||p.target.closest("dialog")||(p.preventDefault(),e.onClose())};return _u(()=>{d.current&&!d.current.contains(document.activeElement)&&d.current.focus()},[JSON.stringify(o)]),K`<section class="item-panel" ref=${d} tabindex="-1" aria-label=${m} onKeyDown=${$}>
    <header><h2 class="ellipsis" title=${m}>${m}</h2>
      ${i&&!n.view&&K`<${Re} deadline=${i.deadline} />`}
      <button class="quiet" aria-label=${s("close")} onClick=${e.onClose}>✕</button></header>
    ${l&&K`<${Ju} error=${l} retry=${u} />`}
    ${c&&i===void 0&&K`<${I} lines=${8} />`}
    ${i!==void 0&&!l&&K`<${Uu} ...${e} key=${`${JSON.stringify(o)} ${r}`} loaded=${i}
        onReload=${()=>a(r+1)} />`}
  </section>`}var Ju=({error:e,retry:t})=>e.status===404?K`<div class="failure" role="alert"><strong>${s("items.gone")}</strong><p>${s("items.gone.why")}</p></div>`:K`<${g} error=${e} retry=${t} />`;function Uu({db:e,container:t,name:n,loaded:o,start:r,write:a,dirty:i,whyFirst:l,onSaved:c,onDelete:u,onExtend:m,onDuplicate:d,onReload:$}){let p=y(Fa),[f,h]=vt(o),[b]=vt(()=>r?.text??Fu(t)),C=f?gn(t,f.item,p):b,[k,v]=vt(C),[w,_]=vt(null),[fe,O]=vt(null),[A,U]=vt(!1),[$t,xe]=vt(l),at=Ge(W=>f?.deadline!=null&&f.deadline<=W),Te=q(t),Ae=k!==C;i.current=a&&Ae;let Ot=Ae||!f?Ba(k):null,Dn=W=>{let me={...p,...W};Fa.set(me),f&&v(gn(t,f.item,me))},Mn=async W=>{U(!0),_(null);try{let me=await W();i.current=!1,O(null),h(me),v(gn(t,me.item,p)),T(me.hint??s(f?"items.saved":"items.created",{name:qe(me.name)}),me.hint?"":"good"),c(me,!f)}catch(me){me instanceof kt?O(me.theirs):_(me)}finally{U(!1)}},tn=(W,me)=>Mn(()=>{let Lt=Qe(me);if(Te&&!ma(W,Lt))throw new Error(s("items.id.fixed"));return mo(e,t,W,Lt)}),Ne=W=>{v(W),tn(fe,W)},ue=()=>Mn(()=>ua(e,t,Qe(k),f?f.item:r?.like)),Et=()=>{!a||A||Ot||f&&!Ae||(f?tn(f,k):ue())},jt=W=>{O(null),h(W),v(gn(t,W.item,p)),c(W,!1)};return K`<div class="item-tools row">
      ${a&&K`<button class="primary" disabled=${A||!!Ot||!!f&&(!Ae||at)} onClick=${Et}
        title="Ctrl+S">${s(f?"save":"create")}</button>`}
      ${f&&Ae&&a&&K`<button onClick=${()=>v(C)}>${s("items.revert")}</button>`}
      ${f&&a&&K`<button onClick=${()=>m(f.name)} disabled=${Ae||at}>${s("items.extend")}</button>`}
      ${f&&!t.view&&K`<button aria-pressed=${!!$t} onClick=${()=>xe(!$t)}>${s("items.why.short")}</button>`}
      ${f&&K`<${bt} label=${s("items.more")} entries=${[{label:s("items.copy"),action:()=>yt(k)},{label:s("items.reload"),action:$,disabled:Ae},a&&{label:s("items.duplicate"),action:()=>d(Bu(t,f.item))},a&&{label:s("delete"),danger:!0,action:()=>u(f.name)}]} />`}
    </div>
    ${at&&K`<div class="failure" role="alert"><strong>${s("items.gone")}</strong>
      ${a&&K`<p>${s("items.ended")}</p><button onClick=${ue}
          disabled=${A||!!Ot}>${s("items.again")}</button>`}</div>`}
    ${$t&&f&&K`<${fo} db=${e} container=${t} name=${f.name} version=${f.etag??f.deadline}
        onClose=${()=>xe(!1)} />`}
    <${et} value=${k} label=${s("items.text")} onChange=${v} onSave=${Et} readOnly=${!a||A}
      autofocus=${!f} />
    <div class="item-foot">
      ${Ot&&Ae&&K`<p class="problem" role="status">${Ot}</p>`}
      ${w&&(w.status===404&&f?K`<div class="failure" role="alert"><strong>${s("items.gone")}</strong>
        <button onClick=${ue} disabled=${A}>${s("items.again")}</button></div>`:w.status===void 0?K`<div class="failure" role="alert">${w.message}</div>`:K`<${g} error=${w} />`)}
      ${f&&!Te&&K`<label class="choice"><input type="checkbox" checked=${p.system} disabled=${Ae}
        onChange=${W=>Dn({system:W.target.checked})} />${s("items.system")}
        <small>${p.system&&s("items.system.hint")}</small></label>`}
      ${f&&Te&&K`<label class="choice"><input type="checkbox" checked=${p.canonical} disabled=${Ae}
        onChange=${W=>Dn({canonical:W.target.checked})} />${s("items.canonical")}</label>`}
      ${!f&&Te&&K`<small>${s("items.new.mongo")}</small>`}</div>
    ${fe&&K`<${Pa} theirs=${gn(t,fe.item,{...p,system:!1})} mine=${k}
        busy=${A} error=${w}
      onMine=${Ne} onTheirs=${()=>jt(fe)} onClose=${()=>O(null)}
          problemOf=${Ba} />`}`}import{html as re,useEffect as zu,useRef as Ku,useState as wo}from"../vendor/preact.js";var Wu=2<<20,Gu=8<<20,Ua=["written","replaced","skipped","overdue","rejected"];async function*Vu(e){for(let t=0;t<e.size;){let n=Wu,o,r;do o=new Uint8Array(await e.slice(t,t+n).arrayBuffer()),r=t+o.length>=e.size?o.length:o.lastIndexOf(10)+1,n*=2;while(r===0);yield o.subarray(0,r),t+=r}}async function Hu({db:e,container:t,file:n,options:o,signal:r,onProgress:a}){let i={lines:0,written:0,replaced:0,skipped:0,overdue:0,rejected:0,rejections:[],sent:0};for await(let l of Vu(n)){let{body:c}=await G("POST",`${ie(e,t.id)}/import`,{query:o,raw:l,headers:{"Content-Type":"application/x-ndjson"},signal:r}),u=i.lines;for(let m of["lines",...Ua])i[m]+=c[m]??0;for(let m of c.rejections??[])i.rejections.length<1e3&&i.rejections.push({...m,line:m.line+u});i.sent+=l.length,a({...i})}return i}function za(e){let[t,n]=wo({running:!1,progress:null,done:!1,error:null}),o=Ku(null);return zu(()=>()=>o.current?.abort(),[]),{...t,start:async()=>{let a=o.current=new AbortController;n({running:!0,progress:null,done:!1,error:null});let i=l=>n(c=>({...c,progress:l}));try{await e(a.signal,i),n(l=>({...l,running:!1,done:!0}))}catch(l){n(c=>({...c,running:!1,error:l.name==="AbortError"?null:l,stopped:l.name==="AbortError"}))}},stop:()=>o.current?.abort()}}function Ka({db:e,container:t,onClose:n,onDone:o}){let[r,a]=wo(null),[i,l]=wo({stamps:"new",onConflict:"fail"}),c=d=>$=>l(p=>({...p,[d]:$.target.value})),u=za(async(d,$)=>{try{await Hu({db:e,container:t,file:r,options:i,signal:d,onProgress:$})}finally{o()}}),{progress:m}=u;return re`<${B} title=${s("items.import.title",{name:t.id})} onClose=${n} footer=${re`
      <button onClick=${u.running?u.stop:n}>${u.running?s("items.stop"):s("close")}</button>
      <button class="primary" disabled=${!r||u.running} onClick=${u.start}>${s("items.import")}</button>`}>
    <label class="field">${s("items.import.file")}<input type="file" accept=".jsonl,.ndjson,.json,.txt" disabled=${u.running}
      onChange=${d=>a(d.target.files[0]??null)} /><small>${s("items.import.lines")}</small></label>
    <label class="field">${s("items.import.conflict")}<select value=${i.onConflict} onChange=${c("onConflict")}
        disabled=${u.running}>
      ${["fail","skip","replace"].map(d=>re`<option value=${d}>${s(`items.import.${d}`)}</option>`)}</select></label>
    <label class="field">${s("items.import.stamps")}<select value=${i.stamps} onChange=${c("stamps")} disabled=${u.running}>
      ${["new","keep"].map(d=>re`<option value=${d}>${s(`items.import.${d}`)}</option>`)}</select></label>
    ${(u.running||m)&&re`<progress max=${r?.size||1} value=${m?.sent??0}
        aria-label=${s("items.progress")}></progress>`}
    ${m&&re`<${Yu} result=${m} />`}
    ${u.done&&re`<p role="status"><strong>${s("items.import.done",{n:m?.written??0})}</strong></p>`}
    ${u.stopped&&re`<p role="status">${s("items.stopped")}</p>`}
    <${g} error=${u.error} /><//>`}var Yu=({result:e})=>re`<dl class="figures">${Ua.map(t=>re`<div key=${t}
    class=${t==="rejected"&&e[t]?"bad":""}>
    <dt>${s(`items.import.${t}`)}</dt><dd>${S(e[t])}</dd></div>`)}</dl>
  ${e.rejections.length>0&&re`<div class="scroll rejections"><table><thead><tr><th
      class="number">${s("items.import.line")}</th><th>${s("items.import.reason")}</th></tr></thead>
    <tbody>${e.rejections.slice(0,100).map(t=>re`<tr><td class="number">${S(t.line)}</td><td
        class="reason">${t.reason}</td></tr>`)}</tbody></table></div>`}`;async function Xu({db:e,container:t,query:n,signal:o,onProgress:r}){let a=await G("GET",`${ie(e,t.id)}/export`,{query:n,signal:o,as:"response"}),i=[],l=[],c=0,u={items:0,bytes:0},m=a.body.getReader();for(let d=0;;){let{done:$,value:p}=await m.read();if($)break;l.push(p),c+=p.length,u.bytes+=p.length;for(let f of p)f===10&&u.items++;c>Gu&&(i.push(new Blob(l)),l=[],c=0),performance.now()-d>200&&(r({...u}),d=performance.now())}return r({...u}),new Blob([...i,...l],{type:"application/x-ndjson"})}function Wa({db:e,container:t,onClose:n,save:o}){let r=q(t),[a,i]=wo({format:"canonical",stamps:"yes"}),l=za(async(u,m)=>{let d=r?{positions:"no",...a}:{positions:"no"};o(`${t.id}.jsonl`,await Xu({db:e,container:t,query:d,signal:u,onProgress:m}))}),{progress:c}=l;return re`<${B} title=${s("items.export.title",{name:t.id})} onClose=${n} footer=${re`
      <button onClick=${l.running?l.stop:n}>${l.running?s("items.stop"):s("close")}</button>
      <button class="primary" disabled=${l.running} onClick=${l.start} autofocus>${s("items.export")}</button>`}>
    <p>${s("items.export.what")}</p>
    ${r&&re`<label class="field">${s("items.export.format")}<select value=${a.format}
        onChange=${u=>i({...a,format:u.target.value})}>
      ${["canonical","relaxed"].map(u=>re`<option value=${u}>${s(`items.export.${u}`)}</option>`)}</select></label>
      <label class="choice"><input type="checkbox" checked=${a.stamps==="yes"}
        onChange=${u=>i({...a,stamps:u.target.checked?"yes":"no"})} />${s("items.export.stamps")}</label>`}
    ${(l.running||c)&&re`<progress max=${t.items||1}
        value=${l.done?t.items||1:c?.items??0} aria-label=${s("items.progress")}></progress>`}
    ${c&&re`<p role="status">${l.done&&re`<strong>${s("items.export.done")}</strong> `}
      ${s("items.export.got",{n:c.items,size:V(c.bytes)})}</p>`}
    ${l.stopped&&re`<p role="status">${s("items.stopped")}</p>`}
    <${g} error=${l.error} /><//>`}function Zu(e){let t=/^(-?\d+)-(-?\d+)$/.exec(e.get("expiring")??"");return t?{from:Number(t[1]),until:Number(t[2])}:null}function em(e,t){let n=vo(()=>pe(`columns.${e}/${t.id}`,null),[e,t.id]);return[y(n),n.set]}function tm(e,t,n){let o=e.has("new")?{new:e.get("new")}:ms(e)&&{name:ms(e)},[r,a]=tt(o),[i,l]=tt(!1);return ko(()=>Wt(o,r)?l(!1):t.current?l(!0):a(o),[JSON.stringify(o)]),{opened:r,setOpened:a,asking:i,discard:()=>{t.current=!1,l(!1),a(o)},stay:()=>{l(!1),t.current&&n(r.new?{new:r.new}:io(r.name))}}}function Ga({db:e,container:t,query:n}){let{write:o}=y(D),r=o&&!t.view,a=Zu(n),[i,l]=tt(""),[c,u]=tt(null),[m,d]=tt(null),[$,p]=tt(null),[f,h]=tt(null),[b,C]=tt(!1),[k,v]=tt(0),[w,_]=tt(0),fe=y(go),[O,A]=em(e,t),U=ks(!1),$t=ks(),xe=ks(null),at=x=>se("c",e,t.id,"items",{...a&&{expiring:n.get("expiring")},...x}),{opened:Te,setOpened:Ae,asking:Ot,discard:Dn,stay:Mn}=tm(n,U,at),tn=ha(t,i,c,a),Ne=va(e,t,tn,fe),{rows:ue,change:Et,loading:jt,error:W}=Ne,me=vo(()=>(ue??[]).map(x=>x.item),[ue]),Lt=vo(()=>na(t,me),[me,t.partitionKey]),lr=vo(()=>a?Ht(t):oa(t,Lt,O),[Lt,O,!!a]);ko(()=>v(0),[ue===null,Ne.page,JSON.stringify(tn)]),ko(()=>{let x=de=>{U.current&&de.preventDefault()};addEventListener("beforeunload",x);let oe=Nr(()=>U.current);return()=>{removeEventListener("beforeunload",x),oe()}},[]);let Dl=Qu(x=>{document.activeElement?.closest("tr[data-key]")?.dataset.key===x&&(xe.current=fn(1)),v(oe=>oe+1),Et(oe=>oe.filter(de=>de.key!==x))},[Et]);ko(()=>{ue?.length===0&&k>0&&!jt&&Ne.load(0,!0)},[ue?.length===0&&k>0]);let cr=(x,oe=!1)=>{xe.current=x.key,C(oe),at(io(x.name))},ur=()=>{at(),setTimeout(()=>fn(0,xe.current),0)},jn=x=>{$t.current=x,at({new:x?"copy":"1"})},mr=(x,oe)=>{let de=ho(t,q(t)?De(x.item):x.item,x.deadline);Et(Fn=>oe?[de,...Fn.filter(Bn=>Bn.key!==de.key)]:Fn.map(Bn=>Wt(Bn.name,de.name)?de:Bn)),j(),oe&&(U.current=!1,Ae({name:de.name}),at(io(de.name)))},Ml=x=>{mr(x,!1),U.current||_(w+1)},jl=async x=>{await da(e,t,x),T(s("items.deleted",{name:qe(x)}),"good"),Et(de=>de.filter(Fn=>!Wt(Fn.name,x))),U.current=!1,j();let oe=ue.findIndex(de=>Wt(de.name,x));xe.current=(ue[oe+1]??ue[oe-1])?.key,$.opened||lo(Te?.name,x)?ur():setTimeout(()=>fn(0,xe.current),50)},Ll=(x,oe)=>{let de=c&&H(c.steps)===H(x);return oe==="slow"&&!de?d(x):(d(null),de&&c.direction==="descending"?u(null):u({steps:x,direction:de?"descending":"ascending"}))},_l=()=>{let x=document.activeElement?.closest?.("tr[data-key]")?.dataset.key??xe.current;return ue?.find(oe=>oe.key===x)},Ln=x=>()=>{xe.current=fn(x,xe.current)??xe.current},_n=x=>()=>{let oe=_l();oe&&x(oe)},Pl=()=>{let x=document.activeElement?.closest("button, a, summary");x?x.click():_n(cr)()};zn([...r?[{key:"n",label:s("items.new"),run:()=>jn()}]:[],{key:"/",label:s("items.key.filter"),run:()=>document.getElementById("items-filter")?.focus()},{key:"r",label:s("items.refresh"),run:Ne.reload},{key:"j",label:s("items.key.down"),run:Ln(1)},{key:"k",label:s("items.key.up"),run:Ln(-1)},{key:"arrowdown",run:Ln(1)},{key:"arrowup",run:Ln(-1)},{key:"enter",label:s("items.key.open"),run:Pl},...t.view?[]:[{key:"w",label:s("items.why"),run:_n(x=>h(f===x.key?null:x.key))}],...r?[{key:"e",label:s("items.extend"),run:_n(x=>p({extend:x.name}))},{key:"delete",label:s("delete"),run:_n(x=>p({delete:x.name}))}]:[]]);let Pn=()=>p(null);return X`<div class="items">
    <div class="items-bar">
      ${a?X`<p class="span"><span class="badge warn">${s("items.span",{from:N(a.from),until:N(a.until)})}</span>
          <a href=${`#/c/${encodeURIComponent(e)}/${encodeURIComponent(t.id)}/items`}>${s("items.span.all")}</a>
          ${Ne.exact===!1&&X`<span class="hint">${s("items.span.inexact")}</span>`}</p>`:X`<${ba} container=${t} value=${i} onApply=${l} error=${W} onRetry=${Ne.reload}
          sorted=${!!c} onUnsort=${()=>u(null)} />`}
      <div class="row items-actions">
        ${r&&X`<button class="primary" onClick=${()=>jn()}>${s("items.new")}</button>`}
        <button onClick=${Ne.reload} title="${s("items.refresh")} (R)" aria-label=${s("items.refresh")}>↻</button>
        ${!a&&X`<${aa} all=${Lt} shown=${lr} fixed=${Ht(t)} chosen=${O} onChoose=${A} />`}
        ${!t.view&&X`<${bt} label=${s("items.transfer")} entries=${[r&&{label:s("items.import"),action:()=>p("import")},{label:s("items.export"),action:()=>p("export")}]} />`}</div>
    </div>
    ${a&&W&&X`<div class="failure" role="alert">${W.message} <button
        onClick=${Ne.reload}>${s("retry")}</button></div>`}
    ${m&&X`<div class="notice" role="status">${s("items.sort.slow",{name:Vt(m)})}
      <button onClick=${()=>{d(null),u({steps:m,direction:"ascending"})}}>${s("items.sort.anyway")}</button>
      <button class="quiet" onClick=${()=>d(null)}>${s("cancel")}</button></div>`}
    ${t.view&&X`<p class="hint">${s("items.view")}</p>`}
    <div class="items-body${Te?" with-panel":""}">
      <div class="items-list">
        ${!ue&&jt&&X`<${I} lines=${10} />`}
        ${ue?.length===0&&!jt&&X`<${nm} filter=${i} span=${a} page=${Ne.page} write=${r}
            onNew=${()=>jn()} />`}
        ${ue?.length>0&&X`<${ya} db=${e} container=${t} rows=${ue} columns=${lr} sort=${c} onSort=${Ll}
          sortable=${!a} opened=${Te?.name} why=${f} onWhy=${h} onOpen=${cr} onGone=${Dl} busy=${jt} />`}
        ${ue&&X`<${xa} pages=${Ne} total=${i||a||t.view?null:t.items} left=${k} />`}
      </div>
      ${Te&&X`<${Ja} key=${`${Te.new??JSON.stringify(Te.name)} ${w}`} db=${e} container=${t}
          name=${Te.name??null} start=${Te.new==="copy"?$t.current:void 0}
        write=${r} dirty=${U} whyFirst=${b} onClose=${ur} onSaved=${mr} onDuplicate=${jn}
        onDelete=${x=>p({delete:x,opened:!0})} onExtend=${x=>p({extend:x})} />`}
    </div>
    ${Ot&&X`<${ee} title=${s("items.unsaved")} action=${s("items.unsaved.discard")} onClose=${Mn} onConfirm=${Dn}>
      <p>${s("items.unsaved.ask")}</p><//>`}
    ${$?.delete&&X`<${ee} title=${s("items.delete")} action=${s("delete")} onClose=${Pn}
        onConfirm=${()=>jl($.delete)}>
      <p class="wrap">${s("items.delete.ask",{name:qe($.delete)})}</p><//>`}
    ${$?.extend&&X`<${$a} db=${e} container=${t} name=${$.extend}
        onSaved=${Ml} onClose=${Pn} />`}
    ${$==="import"&&X`<${Ka} db=${e} container=${t} onClose=${Pn}
        onDone=${()=>{Ne.load(0,!0),j()}} />`}
    ${$==="export"&&X`<${Wa} db=${e} container=${t} onClose=${Pn} save=${Hn} />`}
  </div>`}function nm({filter:e,span:t,page:n,write:o,onNew:r}){let a=t?"items.none.span":n>0?"items.none.page":e?"items.none.filter":"items.none";return X`<${Z} title=${s(a)}>${o&&!e&&!t&&n===0&&X`<p>${s("items.none.hint")}</p><button onClick=${r}>${s("items.new")}</button>`}<//>`}import{html as Je,useEffect as Td,useLayoutEffect as Nd,useMemo as Id,useRef as Ad,useState as Wi}from"../vendor/preact.js";import{html as Is}from"../vendor/preact.js";var ve={keywords:["SELECT","DISTINCT","TOP","VALUE","FROM","JOIN","IN","WHERE","AND","OR","NOT","BETWEEN","LIKE","ESCAPE","EXISTS","ARRAY","AS","GROUP","BY","ORDER","ASC","DESC","OFFSET","LIMIT","TRUE","FALSE","NULL","UNDEFINED","UDF"],functions:{Array:["ARRAY_AVG","ARRAY_CONCAT","ARRAY_CONTAINS","ARRAY_CONTAINS_ALL","ARRAY_CONTAINS_ANY","ARRAY_LENGTH","ARRAY_MAX","ARRAY_MEDIAN","ARRAY_MIN","ARRAY_SLICE","ARRAY_SUM","CHOOSE","OBJECTTOARRAY","SETDIFFERENCE","SETEQUAL","SETINTERSECT","SETUNION"],Conditional:["IIF"],"Date and time":["AGO","DATETIMEADD","DATETIMEBIN","DATETIMEDIFF","DATETIMEFORMAT","DATETIMEFROMPARTS","DATETIMEPART","DATETIMETOTICKS","DATETIMETOTIMESTAMP","DAY","GETCURRENTDATETIME","GETCURRENTDATETIMESTATIC","GETCURRENTTICKS","GETCURRENTTICKSSTATIC","GETCURRENTTIMESTAMP","GETCURRENTTIMESTAMPSTATIC","MONTH","NOW","TICKSTODATETIME","TIMESTAMPTODATETIME","YEAR"],"Full text search":["FULLTEXTCONTAINS","FULLTEXTCONTAINSALL","FULLTEXTCONTAINSANY","FULLTEXTSCORE","RRF","_FULLTEXTSCORE","_FULLTEXTWORDCOUNT"],Item:["DOCUMENTID"],Mathematical:["ABS","ACOS","ASIN","ATAN","ATN2","CEILING","COS","COT","DEGREES","EXP","FLOOR","LOG","LOG10","NUMBERBIN","PI","POWER","RADIANS","RAND","ROUND","SIGN","SIN","SQRT","SQUARE","TAN","TRUNC","INTADD","INTBITAND","INTBITLEFTSHIFT","INTBITNOT","INTBITOR","INTBITRIGHTSHIFT","INTBITXOR","INTDIV","INTMOD","INTMUL","INTSUB"],Spatial:["ST_AREA","ST_DISTANCE","ST_INTERSECTS","ST_ISVALID","ST_ISVALIDDETAILED","ST_WITHIN"],String:["CONCAT","CONTAINS","CONTAINS_ALL_CI","CONTAINS_ALL_CS","CONTAINS_ANY_CI","CONTAINS_ANY_CS","ENDSWITH","INDEX_OF","LASTINDEXOF","LASTSUBSTRINGAFTER","LASTSUBSTRINGBEFORE","LEFT","LENGTH","LOWER","LTRIM","REGEXEXTRACT","REGEXEXTRACTALL","REGEXMATCH","REGEXREPLACE","REGEXREPLACEALL","REPLACE","REPLICATE","REVERSE","RIGHT","RTRIM","STARTSWITH","STRINGEQUALS","STRINGJOIN","STRINGSPLIT","STRINGTOARRAY","STRINGTOBOOLEAN","STRINGTONULL","STRINGTONUMBER","STRINGTOOBJECT","SUBSTRING","SUBSTRINGAFTER","SUBSTRINGBEFORE","TOSTRING","TRIM","UPPER"],"Type checking":["IS_ARRAY","IS_BOOL","IS_DATETIME","IS_DEFINED","IS_FINITE_NUMBER","IS_INTEGER","IS_NULL","IS_NUMBER","IS_OBJECT","IS_PRIMITIVE","IS_STRING"],Vector:["VECTORDISTANCE","_VECTORSCORE"]},stages:["$addFields","$bucket","$bucketAuto","$collStats","$count","$densify","$facet","$fill","$graphLookup","$group","$indexStats","$limit","$lookup","$match","$merge","$out","$planCacheStats","$project","$redact","$replaceRoot","$replaceWith","$sample","$set","$setWindowFields","$skip","$sort","$sortByCount","$unionWith","$unset","$unwind"],otherStages:["$changeStream","$changeStreamSplitLargeEvent","$currentOp","$documents","$geoNear","$listLocalSessions","$listSampledQueries","$listSearchIndexes","$listSessions","$queryStats","$search","$searchMeta","$shardedDataDistribution","$vectorSearch"],filter:["$all","$alwaysFalse","$alwaysTrue","$and","$bitsAllClear","$bitsAllSet","$bitsAnyClear","$bitsAnySet","$comment","$db","$elemMatch","$eq","$exists","$expr","$geoIntersects","$geoNear","$geoWithin","$gt","$gte","$id","$in","$jsonSchema","$lt","$lte","$maxDistance","$meta","$minDistance","$mod","$ne","$near","$nearSphere","$nin","$nor","$not","$options","$or","$ref","$regex","$sampleRate","$size","$text","$type","$where","$within"],expressions:["$abs","$accumulator","$acos","$acosh","$add","$allElementsTrue","$and","$anyElementTrue","$arrayElemAt","$arrayToObject","$asin","$asinh","$atan","$atan2","$atanh","$avg","$binarySize","$bitAnd","$bitNot","$bitOr","$bitXor","$bsonSize","$ceil","$cmp","$concat","$concatArrays","$cond","$const","$convert","$cos","$cosh","$dateAdd","$dateDiff","$dateFromParts","$dateFromString","$dateSubtract","$dateToParts","$dateToString","$dateTrunc","$dayOfMonth","$dayOfWeek","$dayOfYear","$degreesToRadians","$divide","$eq","$exp","$filter","$first","$firstN","$floor","$function","$getField","$gt","$gte","$hour","$ifNull","$in","$indexOfArray","$indexOfBytes","$indexOfCP","$isArray","$isNumber","$isoDayOfWeek","$isoWeek","$isoWeekYear","$last","$lastN","$let","$literal","$ln","$log","$log10","$lt","$lte","$ltrim","$map","$max","$maxN","$median","$mergeObjects","$meta","$millisecond","$min","$minN","$minute","$mod","$month","$multiply","$ne","$not","$objectToArray","$or","$percentile","$pow","$radiansToDegrees","$rand","$range","$reduce","$regexFind","$regexFindAll","$regexMatch","$replaceAll","$replaceOne","$reverseArray","$round","$rtrim","$second","$setDifference","$setEquals","$setField","$setIntersection","$setIsSubset","$setUnion","$sin","$sinh","$size","$slice","$sortArray","$split","$sqrt","$stdDevPop","$stdDevSamp","$strLenBytes","$strLenCP","$strcasecmp","$substr","$substrBytes","$substrCP","$subtract","$sum","$switch","$tan","$tanh","$toBool","$toDate","$toDecimal","$toDouble","$toInt","$toLong","$toLower","$toObjectId","$toString","$toUpper","$trim","$trunc","$tsIncrement","$tsSecond","$type","$unsetField","$week","$year","$zip"],accumulators:["$addToSet","$avg","$bottom","$bottomN","$count","$first","$firstN","$last","$lastN","$max","$maxN","$median","$mergeObjects","$min","$minN","$percentile","$push","$stdDevPop","$stdDevSamp","$sum","$top","$topN"]};import{useEffect as fm,useState as hm}from"../vendor/preact.js";function Xt(e){return JSON.parse(e,(t,n,o)=>typeof n=="number"&&o&&JSON.rawJSON&&String(n)!==o.source?JSON.rawJSON(o.source):n)}var vs=e=>typeof e=="object"&&e!==null&&!!JSON.isRawJSON?.(e),je=e=>typeof e=="object"&&e!==null&&!Array.isArray(e)&&!vs(e);function bn(e){return e===void 0?"undefined":e===null?"null":vs(e)?"number":Array.isArray(e)?"array":typeof e}function mt(e){return e===void 0?"":typeof e=="string"?e:JSON.stringify(e)}var om=["$numberLong","$numberInt","$numberDouble","$numberDecimal"];function yn(e){if(typeof e=="number")return e;if(vs(e))return Number(e.rawJSON);if(je(e)){for(let t of om)if(typeof e[t]=="string")return Number(e[t])}return NaN}var sm=/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/;function xs(e){if(je(e)&&"$date"in e){let t=e.$date;return je(t)?yn(t)/1e3:Date.parse(t)/1e3}return typeof e=="string"&&sm.test(e)?Date.parse(e)/1e3:NaN}var rm=/[\s]/;function nt(e,t){for(;t<e.length&&rm.test(e[t]);)t++;return t}function Ss(e,t){for(t++;e[t]!=='"';t++)e[t]==="\\"&&t++;return t+1}function Va(e,t){if(e[t]==='"')return Ss(e,t);if(e[t]!=="{"&&e[t]!=="["){for(;t<e.length&&!/[\s,\]}]/.test(e[t]);)t++;return t}let n=0;do{if(e[t]==='"'){t=Ss(e,t);continue}(e[t]==="{"||e[t]==="[")&&n++,(e[t]==="}"||e[t]==="]")&&n--,t++}while(n>0);return t}function Ha(e){let t=[],n=nt(e,nt(e,0)+1);for(;e[n]!=="]";){let o=Va(e,n);t.push({text:e.slice(n,o),at:n}),n=nt(e,o),e[n]===","&&(n=nt(e,n+1))}return t}function Ya(e){let t=[],n=nt(e,nt(e,0)+1);for(;e[n]!=="}";){let o=Ss(e,n),r=JSON.parse(e.slice(n,o)),a=nt(e,nt(e,o)+1),i=Va(e,a);t.push({name:r,text:e.slice(a,i),at:a}),n=nt(e,i),e[n]===","&&(n=nt(e,n+1))}return t}function ot(e,t){try{let n=JSON.parse(e),o=n===null?"null":Array.isArray(n)?"array":typeof n;return t&&o!==t?{wrong:t,at:0}:null}catch(n){return{message:n.message.replace(/ in JSON at position.*$/,""),at:am(n.message,e)}}}function am(e,t){let n=/at position (\d+)/.exec(e);if(n)return Number(n[1]);let o=/line (\d+) column (\d+)/.exec(e);return o?t.split(`
`).slice(0,o[1]-1).reduce((a,i)=>a+i.length+1,0)+Number(o[2])-1:t.length}var im=0,lm={$match:"{}",$group:'{ "_id": null, "n": { "$sum": 1 } }',$sort:'{ "_id": 1 }',$limit:"10",$skip:"10",$count:'"n"',$unwind:'"$field"',$unset:'"field"',$sortByCount:'"$field"',$sample:'{ "size": 10 }',$project:'{ "_id": 1 }',$replaceWith:'"$field"',$replaceRoot:'{ "newRoot": "$field" }',$out:'"copy"',$merge:'{ "into": "copy" }',$redact:'"$$KEEP"',$lookup:'{ "from": "other", "localField": "field", "foreignField": "_id", "as": "found" }',$unionWith:'"other"',$bucketAuto:'{ "groupBy": "$field", "buckets": 5 }',$facet:'{ "all": [{ "$count": "n" }] }'},xo=e=>lm[e]??"{}",xt=(e="$match",t=xo(e),n=!0)=>({id:++im,op:e,text:t,enabled:n}),So=e=>e.find(t=>t.enabled&&(t.op==="$out"||t.op==="$merge"));function Cs(e){try{let t=JSON.parse(e.text),n=e.op==="$merge"&&typeof t=="object"?t.into:t;return typeof n=="string"?n:`${n.db?`${n.db}.`:""}${n.coll}`}catch{return"?"}}var qt=e=>ot(e.text),Qa=e=>`{ ${JSON.stringify(e.op)}: ${e.text.trim()} }`,wn=(e,t=e.length-1)=>`[${e.slice(0,t+1).filter(n=>n.enabled).map(Qa).join(", ")}]`;function Co(e){let t=e.filter(o=>o.enabled),n=e.map(o=>{if(!o.enabled)return`  // {${JSON.stringify(o.op)}:${JSON.stringify(Xt(o.text))}}`;let r=o===t.at(-1)?"":",";return`  ${Qa(o).replaceAll(`
`,`
  `)}${r}`});return n.length?`[
${n.join(`
`)}
]`:"[]"}var cm=e=>e.replace(/^[ \t]*\/\/.*$/gm,t=>" ".repeat(t.length));function Xa(e,t){if(ot(e,"object"))return null;let n=Ya(e);if(n.length!==1)return null;let o=n[0].text.replace(/\n {2}/g,`
`);return xt(n[0].name,o,t)}function Oo(e){let t=cm(e),n=ot(t,"array");if(n)return{error:n};let o=[];for(let r of Ha(t)){let a=Xa(r.text,!0);if(!a)return{error:{wrong:"stage",at:r.at}};o.push({at:r.at,stage:a})}for(let r of e.matchAll(/^[ \t]*\/\/(.*)$/gm)){let a=Xa(r[1].trim().replace(/,$/,""),!1);a&&o.push({at:r.index,stage:a})}return{stages:o.sort((r,a)=>r.at-a.at).map(r=>r.stage)}}var Za=[20,100,500,1e3],Os=e=>({language:e.dialect==="mongodb"?"find":"sql",sql:"SELECT * FROM c",parameters:{},partitionKey:"",find:{filter:"{}",projection:"",sort:"",skip:"",limit:""},stages:[xt("$match")],asText:!1,text:"",max:100}),dt=class extends Error{constructor(t,n,o){super(n),Object.assign(this,{field:t,at:o})}};function Fe(e){return e?e.wrong?s(`query.wrong.${e.wrong}`):e.message:""}function Es(e){let t=e.replace(/"(\\.|[^"\\])*"|'(\\.|[^'\\])*'|--.*$/gm," ");return[...new Set(t.match(/@\w+/g)??[])]}function Eo(e,t,n){let o=ot(t,n);if(o)throw new dt(e,Fe(o),o.at);return t}function um(e){if(!e.sql.trim())throw new dt("sql",s("query.empty"),0);let t=[`"sql":${JSON.stringify(e.sql)}`],n=Es(e.sql).filter(r=>e.parameters[r]?.trim()).map(r=>`{"name":"${r}","value":${Eo(r,e.parameters[r])}}`);n.length&&t.push(`"parameters":[${n.join(",")}]`);let o=e.partitionKey.trim();return o&&t.push(`"partitionKey":${o.startsWith("[")?Eo("partitionKey",o):`[${Eo("partitionKey",o)}]`}`),t}function mm({find:e}){let t=[];for(let n of["filter","projection","sort"])e[n].trim()&&t.push(`"${n}":${Eo(n,e[n],"object")}`);for(let n of["skip","limit"]){let o=String(e[n]).trim();if(o){if(!/^\d{1,15}$/.test(o))throw new dt(n,s("query.wrong.count"),0);t.push(`"${n}":${o}`)}}return[`"find":{${t.join(",")}}`]}function ei(e){if(!e.asText)return e.stages;let{stages:t,error:n}=Oo(e.text);if(n)throw new dt("pipeline",Fe(n),n.at);return t}function dm(e){let t=ei(e),n=t.findIndex(o=>o.enabled&&qt(o));if(n>=0)throw new dt(`stage ${t[n].id}`,s("query.stage.wrong",{n:n+1,why:Fe(qt(t[n]))}));return[`"pipeline":${wn(t)}`]}var pm={sql:um,find:mm,aggregate:dm};function Ts(e,t){let n=pm[e.language](e);for(let[o,r]of Object.entries(t))r!==void 0&&n.push(`"${o}":${JSON.stringify(r)}`);return`{${n.join(",")}}`}var kn=e=>e.language==="aggregate"?So(ei(e)):void 0;function Dt(e){if(e.language==="sql")return e.sql.trim();if(e.language==="aggregate")return e.asText?e.text:$m(e.stages);let{find:t}=e;return["filter","projection","sort","skip","limit"].filter(n=>String(t[n]).trim()&&t[n]!=="{}").map(n=>`${n}: ${t[n]}`).join(", ")||"{}"}var $m=e=>e.some(t=>qt(t))?wn(e):Co(e);async function Mt(e,t,n,o){let{body:r}=await G("POST",`${ie(e,t.id)}/query`,{raw:n,headers:{"Content-Type":"application/json"},signal:o,as:"text"});return Xt(r)}async function vn(e,t,n,{max:o=n.max,continuation:r,signal:a,lifetimes:i=!0}){let l=0,c;for(;;){let u=await Mt(e,t,Ts(n,{max:o,continuation:r,lifetimes:i}),a);if(l+=Number(u.elapsedMs??0),u.requestCharge!==void 0&&(c=(c??0)+Number(u.requestCharge)),u.items.length||!u.continuation)return{items:u.items,lifetimes:u.lifetimes??[],continuation:u.continuation,milliseconds:l,charge:c};r=u.continuation}}var To=50,gm=8,bm=2e3,No=()=>({types:new Set,members:new Map,element:null});function Ns(e,t,n,o){if(e.types.add(bn(t)),!(n>=gm)){if(Array.isArray(t)){e.element??=No();for(let r of t.slice(0,20))Ns(e.element,r,n+1,o)}else if(je(t))for(let[r,a]of Object.entries(t)){if(!e.members.has(r)){if(o.left--<=0)return;e.members.set(r,No())}Ns(e.members.get(r),a,n+1,o)}}}function ym(e){let t=No(),n={left:bm};for(let o of e)Ns(t,o,0,n);return t}function ti(e,t){let[n,o]=hm(No);return fm(()=>{let r=new AbortController,a=t.dialect==="mongodb"?`{"find":{"limit":${To}},"max":${To}}`:`{"sql":"SELECT TOP ${To} * FROM c","max":${To}}`;return Mt(e,t,a,r.signal).then(i=>o(ym(i.items)),()=>{}),()=>r.abort()},[e,t.id]),n}function Io(e,t="",n=new Map){for(let[o,r]of e.members){if(/^\$|\./.test(o))continue;let a=t?`${t}.${o}`:o;n.set(a,[...r.types].join(", ")),Io(r,a,n),r.element&&Io(r.element,a,n)}return n}var oi=/^[A-Za-z_]\w*$/,wm=ve.keywords.map(e=>({label:e,type:"keyword"})),km=Object.entries(ve.functions).flatMap(([e,t])=>t.map(n=>({label:n,type:"function",detail:e,apply:(o,r,a,i)=>{o.dispatch({changes:{from:a,to:i,insert:`${n}()`},selection:{anchor:a+n.length+1}})}})));function ni(e){let t=e.replace(/"(\\.|[^"\\])*"|'(\\.|[^'\\])*'/g,'""'),n=new Map,o=!0;for(let[,r,a,i,l]of t.matchAll(/\b(?:FROM|JOIN)\s+(?:(\w+)\s+IN\s+([\w.]+)|([\w.]+)(?:\s+(?:AS\s+)?(\w+))?)/gi)){let c=(a??i).split("."),m=[...o?[]:n.get(c[0].toLowerCase())??[],...c.slice(1),...r?["[]"]:[]],d=l&&ve.keywords.includes(l.toUpperCase());n.set((r??(d?void 0:l)??c.at(-1)).toLowerCase(),m),o&&!r&&l&&!d&&n.set(c[0].toLowerCase(),m),o=!1}return n.size===0&&n.set("c",[]),n}function vm(e,t){for(let n of t)if(e=n==="[]"?e?.element:e?.members.get(n),!e)return null;return e}function xm(e){return[...e.members].map(([t,n])=>({label:t,type:"property",detail:[...n.types].join(", "),apply:oi.test(t)?t:(o,r,a,i)=>{let l=`[${JSON.stringify(t)}]`;o.dispatch({changes:{from:a-1,to:i,insert:l},selection:{anchor:a-1+l.length}})}}))}var si=({tree:e,containers:t,parameters:n})=>o=>{let r=o.matchBefore(/[A-Za-z_]\w*(\[\d*\]|\.\w+)*\.\w*$/),a=o.state.doc.toString();if(r){let[m,...d]=r.text.replace(/\[\d*\]/g,".[]").split("."),$=d.pop(),p=ni(a).get(m.toLowerCase()),f=p&&vm(e,[...p,...d]);return f?{from:o.pos-$.length,options:xm(f),validFor:/^\w*$/}:null}let i=o.matchBefore(/@?\w+$/);if(!i&&!o.explicit)return null;let l=i?i.from:o.pos,c=a.slice(0,l);if(/\b(FROM|JOIN)\s+$/i.test(c))return{from:l,options:t.filter(m=>oi.test(m)).map(m=>({label:m,type:"class",boost:1}))};let u=[...wm,...km,...[...ni(a).keys()].map(m=>({label:m,type:"variable",boost:2})),...n.filter(m=>m!==i?.text).map(m=>({label:m,type:"variable",boost:2}))];return{from:l,options:u,validFor:/^@?\w*$/}},Sm={filter:ve.filter,stage:[...new Set([...ve.filter,...ve.expressions,...ve.accumulators])],pipeline:[...new Set([...ve.stages,...ve.filter,...ve.expressions,...ve.accumulators])],none:[]},Cm=e=>(t,n,o,r)=>{let a=t.state.doc,i=o>0&&a.sliceString(o-1,o)==='"',l=a.sliceString(r,r+1)==='"',c=`${i?"":'"'}${e}${l?"":'"'}`;t.dispatch({changes:{from:o,to:r,insert:c},selection:{anchor:o+c.length+(l?1:0)}})},xn=({tree:e,containers:t,kind:n})=>o=>{let r=o.matchBefore(/[$\w.]+$/),a=o.matchBefore(/"$/);if(!r&&!a&&!o.explicit)return null;let i=r?r.from:o.pos,l=[...Io(e)],c=o.state.doc.sliceString(Math.max(0,i-40),i),u=(d,$,p)=>({label:d,type:$,detail:p,apply:Cm(d)}),m=/"(from|coll|into|\$out|\$unionWith)"\s*:\s*"?$/.test(c)?t.map(d=>u(d,"class")):[...Sm[n].map(d=>u(d,"function")),...l.map(([d,$])=>u(d,"property",$)),...n==="filter"||n==="none"?[]:l.map(([d,$])=>u(`$${d}`,"variable",$))];return{from:i,options:m,validFor:/^[$\w.]*$/}};import{html as ri,useMemo as ai}from"../vendor/preact.js";function Ao({label:e,value:t,kind:n,set:o,run:r,complete:a,placeholder:i,errors:l,autofocus:c,required:u}){let m=ai(()=>t.trim()||u?ot(t,n):null,[t,n,u]),d=ai(()=>{if(!m)return l??[];let $=Math.max(0,Math.min(m.at,t.length-1));return[{from:$,to:$+1,message:Fe(m)}]},[m,l]);return ri`<div class="query-editor"><${et} language="pipeline" label=${e} value=${t} onChange=${o} onRun=${r}
      complete=${a} placeholder=${i} errors=${d} autofocus=${c} /></div>
    ${m&&ri`<small class="wrong">${s("query.notJSON",{why:Fe(m)})}</small>`}`}function ii({query:e,change:t,run:n,tree:o,containers:r,errors:a}){let{find:i}=e,l=d=>$=>t({find:{...i,[d]:$}}),c=d=>xn({tree:o,containers:r,kind:d}),u=(d,$,p)=>Is`<div class=${`find-part ${d}`}><h3>${s(`query.${d}`)}</h3>
    <${Ao} label=${s(`query.${d}`)} value=${i[d]} kind="object" set=${l(d)} run=${n} complete=${c($)}
      placeholder=${p} errors=${d==="filter"?a:void 0} autofocus=${d==="filter"} /></div>`,m=d=>Is`<label class="inline-field"><span>${s(`query.${d}`)}</span>
    <input class="number" type="number" min="0" step="1" value=${i[d]} onInput=${$=>l(d)($.target.value)} /></label>`;return Is`<div class="query-find">${u("filter","filter",'{ "n": { "$gt": 1 } }')}
    ${u("projection","stage",'{ "_id": 1 }')}${u("sort","none",'{ "_id": -1 }')}</div>
    <div class="query-values">${m("skip")}${m("limit")}</div>`}import{html as St,useState as Om}from"../vendor/preact.js";var Em=100,Tm=65536,As=pe("query.history",[]),Rs=pe("query.saved",[]);function li({language:e,sql:t,parameters:n,partitionKey:o,find:r,stages:a,asText:i,text:l,max:c}){return{language:e,max:c,...{sql:{sql:t,parameters:n,partitionKey:o},find:{find:r},aggregate:{stages:a,asText:i,text:l}}[e]}}var ci=(e,t)=>({...e,...t,stages:(t.stages??e.stages).map(n=>xt(n.op,n.text,n.enabled))}),qs=(e,t)=>n=>n.db===e&&n.container===t.id;function ui(e,t,n){let o={db:e,container:t.id,at:Math.floor(Date.now()/1e3),query:li(n)};if(JSON.stringify({...o.query,stages:void 0,of:Dt(n)}).length>Tm)return;let a=i=>qs(e,t)(i)&&Dt(i.query)===Dt(n)&&i.query.language===n.language;As.set(i=>[o,...i.filter(l=>!a(l))].slice(0,Em))}function mi(e,t,n,o){let r={db:e,container:t.id,name:n,query:li(o)};Rs.set(a=>[...a.filter(i=>!(qs(e,t)(i)&&i.name===n)),r].sort((i,l)=>i.name.localeCompare(l.name)))}function di({db:e,container:t,onChoose:n,onClose:o}){let r=qs(e,t),a=y(Rs).filter(r),i=y(As).filter(r),l=c=>{n(c.query),o()};return St`<${B} title=${s("query.history")} wide onClose=${o}>
    <section class="query-entries" aria-label=${s("query.saved")}><h3>${s("query.saved")}</h3>
      ${a.length===0&&St`<p class="hint">${s("query.saved.none")}</p>`}
      <ul>${a.map(c=>St`<li key=${c.name}>
        <button class="entry" onClick=${()=>l(c)}><strong class="ellipsis">${c.name}</strong>
          <code class="ellipsis">${Dt(c.query)}</code></button>
        <button class="quiet" aria-label=${s("query.saved.delete",{name:c.name})} title=${s("delete")}
          onClick=${()=>Rs.set(u=>u.filter(m=>m!==c))}>✕</button></li>`)}</ul></section>
    <section class="query-entries" aria-label=${s("query.past")}>
      <h3 class="row"><span class="grow">${s("query.past")}</span>
        ${i.length>0&&St`<button class="quiet" onClick=${()=>As.set(c=>c.filter(u=>!r(u)))}>
          ${s("query.past.clear")}</button>`}</h3>
      ${i.length===0&&St`<${Z} title=${s("query.past.none")} />`}
      <ul>${i.map(c=>St`<li key=${`${c.at} ${Dt(c.query)}`}>
        <button class="entry" onClick=${()=>l(c)}><span class="detail">
            <span class="badge">${s(`query.language.${c.query.language}`)}</span>
            <time datetime=${F(c.at)} title=${F(c.at)}>${N(c.at)}</time></span>
          <code class="ellipsis">${Dt(c.query)}</code></button></li>`)}</ul></section><//>`}function pi({onSave:e,onClose:t}){let[n,o]=Om(""),r=n.trim()!=="",a=i=>{i.preventDefault(),r&&(e(n.trim()),t())};return St`<${B} title=${s("query.save")} onClose=${t} footer=${St`<button onClick=${t}>${s("cancel")}</button>
      <button class="primary" disabled=${!r} onClick=${a}>${s("save")}</button>`}>
    <form onSubmit=${a}><label class="field">${s("name")}
      <input value=${n} maxlength="100" onInput=${i=>o(i.target.value)} autofocus autocomplete="off" /></label></form><//>`}import{html as le,useEffect as $d,useState as fd}from"../vendor/preact.js";import{html as Zt,useMemo as qo,useState as Lm}from"../vendor/preact.js";import{uPlot as ki}from"../vendor/uplot.js";import{html as Oe,useMemo as fi,useState as hi}from"../vendor/preact.js";import{html as Sn,useMemo as Nm}from"../vendor/preact.js";var Im=4e4,Am=/("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g;function Rm(e){if(e.length>Im)return e;let t=[],n=0;for(let o of e.matchAll(Am)){let[r,a,i]=o,l=i?"name":a?"string":"number";t.push(e.slice(n,o.index),Sn`<span class=${`json-${l}`}>${a??r}</span>`,i??""),n=o.index+r.length}return t.push(e.slice(n)),t}function Cn({value:e}){let t=Nm(()=>Rm(JSON.stringify(e,null,2)),[e]);return Sn`<pre class="json">${t}</pre>`}var Ro=e=>e.some(t=>t!==!1),$i=({page:e})=>Sn`<ol class="documents" aria-label=${s("query.results")}>
  ${e.items.map((t,n)=>Sn`<li key=${e.first+n}>
    <div class="document-head"><span class="detail">${e.first+n}</span>
      <span class="grow">${Ro(e.lifetimes)&&e.lifetimes[n]!==!1&&Sn`
        <${Re} deadline=${e.lifetimes[n]} />`}</span>
      <button class="quiet" aria-label=${s("query.copy.row",{n:e.first+n})}
        onClick=${()=>yt(JSON.stringify(t,null,2))}>${s("query.copy")}</button></div>
    <${Cn} value=${t} /></li>`)}</ol>`;var qm=60,gi=300,yi=new Set(["_rid","_self","_etag","_attachments","_ts"]);function Ds(e,t=!1){let n=new Set;for(let r of e)if(je(r))for(let a of Object.keys(r))n.add(a);else n.add("value");let o=[...n].filter(r=>!yi.has(r));return t||o.length===0?[...n]:o}var Qt=(e,t)=>je(e)?e[t]:t==="value"?e:void 0,bi=e=>e!==null&&e!==!1&&e!==void 0;function wi({page:e}){let[t,n]=hi(!1),[o,r]=hi(null),{items:a,lifetimes:i}=e,l=Ds(a,t),c=l.slice(0,qm),u=a.some(f=>je(f)&&"_rid"in f&&Object.keys(f).some(h=>!yi.has(h))),m=fi(()=>Dm(a,c),[a,t]),d=Ft(),$=i.filter(f=>bi(f)&&f<=d).length,p=fi(()=>a.map((f,h)=>Oe`
    <tr key=${h} class=${bi(i[h])&&i[h]<=d?"gone":""}>
      <th scope="row" class="number"><button class="quiet" aria-label=${s("query.row",{n:e.first+h})}
        onClick=${()=>r(h)}>${e.first+h}</button></th>
      ${Ro(i)&&Oe`<td class="life">${i[h]===!1?"":Oe`<${Re} deadline=${i[h]} />`}</td>`}
      ${c.map(b=>Oe`<${Mm} value=${Qt(f,b)} number=${m.has(b)} />`)}</tr>`),[a,t,$]);return Oe`<div class="query-table">
    ${(u||l.length>c.length)&&Oe`<div class="row table-options">
      ${u&&Oe`<label class="choice"><input type="checkbox" checked=${t}
        onChange=${f=>n(f.target.checked)} />${s("query.system")}</label>`}
      ${l.length>c.length&&Oe`<small>${s("query.columns.more",{n:l.length-c.length})}</small>`}</div>`}
    <div class="scroll" tabindex="0" role="region" aria-label=${s("query.results")}><table>
      <thead><tr><th scope="col" class="number">#</th>${Ro(i)&&Oe`<th scope="col">${s("query.left")}</th>`}
        ${c.map(f=>Oe`<th scope="col" class=${m.has(f)?"number":""}>
          <span class="ellipsis">${f}</span></th>`)}</tr></thead>
      <tbody>${p}</tbody></table></div>
    ${o!==null&&Oe`<${jm} n=${e.first+o} row=${a[o]} onClose=${()=>r(null)} />`}</div>`}function Dm(e,t){return new Set(t.filter(n=>{let o=new Set(e.map(r=>bn(Qt(r,n))));return o.has("number")&&[...o].every(r=>["number","undefined","null"].includes(r))}))}function Mm({value:e,number:t}){let n=bn(e),o=mt(e),r=o.length>gi?`${o.slice(0,gi)}…`:o;return Oe`<td class=${t?"number":""}><span class="cell ${n}" title=${r.length>40?r:void 0}>${r}</span></td>`}var jm=({n:e,row:t,onClose:n})=>Oe`<${B} title=${s("query.row",{n:e})} wide onClose=${n}
    footer=${Oe`<button onClick=${()=>yt(JSON.stringify(t,null,2))}>${s("query.copy")}</button>
      <button onClick=${n}>${s("close")}</button>`}>
  <${Cn} value=${t} /><//>`;var Ms=5e3,_m=200;function Pm(e){let t=Ds(e,!0),n=e.slice(0,_m),o=(i,l)=>{let c=n.map(u=>Qt(u,i)).filter(u=>u!=null);return c.length>0&&c.every(l)},r=t.filter(i=>o(i,l=>!Number.isNaN(xs(l)))),a=t.filter(i=>o(i,l=>!Number.isNaN(yn(l))));return{all:t,dates:r,numbers:a}}function Fm({all:e,dates:t,numbers:n}){let o=i=>!i.startsWith("_")||i==="_id",r=e.filter(o).find(i=>t.includes(i)||!n.includes(i))??e.find(o)??e[0],a=n.filter(i=>i!==r).find(o)??n.find(i=>i!==r)??n[0];return{x:r,y:a}}function Bm(e,t,n,o,r){let a=[];for(let l of e){let c=yn(Qt(l,n));if(!Number.isFinite(c))continue;let u=Qt(l,t),m=o.dates.includes(t)?xs(u):yn(u);if(a.push([mt(u),m,c]),a.length===Ms)break}let i=r&&a.every(l=>Number.isFinite(l[1]));return i?a.sort((l,c)=>l[1]-c[1]):a.forEach((l,c)=>{l[1]=c}),{points:a,scaled:i}}var Jm=e=>e.length>14?`${e.slice(0,13)}…`:e;function Um({points:e,scaled:t,time:n,line:o,y:r}){let a=e.map(l=>Jm(l[0])),i=(l,c)=>c.map(u=>Number.isInteger(u)?a[u]??"":"");return()=>({scales:{x:{time:t&&n,...t?{}:{range:[-.6,Math.max(e.length,1)-.4]}},y:o?{}:{range:(l,c,u)=>ki.rangeNum(Math.min(c,0),Math.max(u,0),.1,!0)}},axes:[it(t?{}:{values:i,space:90,incrs:[1,2,5,10,20,50,100,200,500,1e3]}),it({size:64,values:(l,c)=>c.map(u=>S(u,{notation:"compact"}))})],legend:{show:!1},cursor:{points:{show:o}},series:[{},{label:r,stroke:Xe(0),fill:o?void 0:Xe(0),width:o?2:0,...o?{points:{show:e.length<100}}:{paths:ki.paths.bars({size:[.7,60]}),points:{show:!1}}}]})}function vi({pages:e}){let t=qo(()=>e.flatMap(b=>b.items),[e]),n=qo(()=>Pm(t),[t]),o=Fm(n),[r,a]=Lm({}),i=n.all.includes(r.x)?r.x:o.x,l=n.numbers.includes(r.y)?r.y:o.y,c=r.kind??(n.dates.includes(i)?"line":"bar"),u=c==="line",{points:m,scaled:d}=qo(()=>Bm(t,i,l,n,u),[t,i,l,u]),$=qo(()=>[m.map(b=>b[1]),m.map(b=>b[2])],[m]);if(n.numbers.length===0)return Zt`<${Z} title=${s("query.chart.none")} />`;let p=b=>C=>a(k=>({...k,[b]:C.target.value})),f=(b,C,k)=>Zt`<label class="inline-field">${s(`query.chart.${b}`)}
    <select value=${C} onChange=${p(b)}>
      ${k.map(v=>Zt`<option value=${v} selected=${v===C}>${v}</option>`)}</select></label>`,h=m.map(b=>b[2]);return Zt`<div class="query-chart"><div class="row">${f("x",i,n.all)}${f("y",l,n.numbers)}
      <label class="inline-field">${s("query.chart.kind")}<select value=${c} onChange=${p("kind")}>
        ${["bar","line"].map(b=>Zt`<option value=${b} selected=${b===c}>${s(`query.chart.${b}`)}</option>`)}</select></label>
      ${m.length===Ms&&Zt`<small>${s("query.chart.most",{n:Ms})}</small>`}</div>
    <${Ut} height=${320} data=${$} deps=${[i,l,c,t]}
      make=${Um({points:m,scaled:d,time:n.dates.includes(i),line:u,y:l})}
      label=${s("query.chart.label",{x:i,y:l,n:m.length,low:S(Math.min(...h)),high:S(Math.max(...h))})} />
    <div class="query-axes"><span>${l}</span><span>${i}</span></div></div>`}import{html as On,useEffect as Km,useRef as Wm,useState as Ls}from"../vendor/preact.js";var js=2e3,zm=/^[=+\-@\t\r\n＝＋－＠]/;function xi(e){let t=e===null?"":mt(e);return typeof e=="string"&&zm.test(t)&&(t=`'${t}`),/[",\r\n]|^\s|\s$|^'/.test(t)?`"${t.replaceAll('"','""')}"`:t}var Do=class{names=new Set;add(t){if(je(t))for(let n of Object.keys(t))this.names.add(n);else this.names.add("value");if(this.names.size>js)throw new RangeError("columns")}},Si=e=>`${[...e].map(xi).join(",")}\r
`,Ci=(e,t)=>`${[...t].map(n=>xi(je(e)?e[n]:n==="value"?e:void 0)).join(",")}\r
`;var Gm=1<<20,Vm=1e3,Mo=class{blob=new Blob([]);texts=[];size=0;add(t){this.texts.push(t),this.size+=t.length,this.size>=Gm&&this.flush()}flush(){return this.blob=new Blob([this.blob,...this.texts]),this.texts=[],this.size=0,this.blob}};async function*Hm(e){let t="",n=e.stream().pipeThrough(new TextDecoderStream).getReader();for(;;){let{done:o,value:r}=await n.read();if(o)break;let a=(t+r).split(`
`);t=a.pop(),yield*a}t&&(yield t)}async function Ym(e,t,n){let o=new Mo,r=0;for await(let a of e){for(let i of a)t?.add(i),o.add(`${JSON.stringify(i)}
`);n(r+=a.length)}return{blob:o.flush(),rows:r}}async function Xm(e,t,n){let o=new Mo;o.add(Si(t));for await(let r of Hm(e))n.throwIfAborted(),o.add(Ci(Xt(r),t));return o.flush()}async function*Qm(e,t,n,o){let r;do{let a=await vn(e,t,n,{max:Vm,continuation:r,signal:o,lifetimes:void 0});yield a.items,r=a.continuation}while(r)}async function*Zm(e){for(let t of e)yield t.items}var ed={jsonl:"application/x-ndjson",csv:"text/csv;charset=utf-8"};async function Oi(e,t,n,o,r){let a=t==="csv"?new Do:null,{blob:i,rows:l}=await Ym(n,a,r);o.throwIfAborted();let c=a?await Xm(i,a.names,o):i;Hn(`${e}.${t}`,c,ed[t]),T(s("query.exported",{n:l}),"good")}function Ei({db:e,container:t,run:n,all:o}){let[r,a]=Ls(null),i=`${e}-${t.id}`.replace(/[^\w.-]+/g,"_"),l=async u=>{try{await Oi(i,u,Zm(n.pages),new AbortController().signal,()=>{})}catch(m){T(Ti(m),"bad")}},c=["jsonl","csv"].flatMap(u=>[{label:s(`query.export.${u}`),action:()=>l(u)},o&&{label:s(`query.export.${u}.all`),action:()=>a(u)}]);return On`<${bt} label=${s("query.export")} entries=${c}>${s("query.export")} <span aria-hidden="true">▾</span><//>
    ${r&&On`<${td} kind=${r} name=${i} onClose=${()=>a(null)}
      pages=${u=>Qm(e,t,n.ran,u)} />`}`}var Ti=e=>e instanceof RangeError?s("query.export.wide",{n:js}):e.message;function td({kind:e,name:t,pages:n,onClose:o}){let[r,a]=Ls(0),[i,l]=Ls(null),c=Wm(new AbortController);return Km(()=>{let{signal:u}=c.current;return Oi(t,e,n(u),u,a).then(o,m=>{m.name!=="AbortError"&&l(m instanceof RangeError?new Error(Ti(m)):m)}),()=>c.current.abort()},[]),On`<${B} title=${s("query.export")} onClose=${o} footer=${On`<button onClick=${o}>${s("cancel")}</button>`}>
    ${!i&&On`<p role="status"><span class="spinner"></span> ${s("query.export.rows",{n:r})}</p>
      <progress aria-label=${s("query.export")}></progress>`}
    <${g} error=${i} /><//>`}import{html as Be}from"../vendor/preact.js";var nd=["partition","span","lookup","walk","index","scan","count only","nothing","from","join","filter","order","sort","group by","distinct","top","offset","project","rules"];function od(e){let t=nd.find(n=>e===n||e.startsWith(`${n} `))??"";return{word:t,rest:e.slice(t.length).trim()}}function sd(e){let t=e.split(`
`).filter(Boolean).map(od),n=t.some(({word:o})=>o==="filter"||o==="sort");return t.map(({word:o,rest:r})=>{let a={title:o?s(`query.plan.${o.replace(" ","")}`):"",detail:r};return o==="scan"&&(a.noIndex=n),o==="sort"&&(a.inMemory=!0),o==="filter"&&r.endsWith(", exact")&&(a.detail=r.slice(0,-7),a.note=s("query.plan.exact")),a})}var Ni=["COLLSCAN","IXSCAN","FETCH","SORT","IDHACK","EOF","OR","LIMIT","SKIP","PROJECTION_SIMPLE","PROJECTION_DEFAULT","PROJECTION_COVERED","COUNT_SCAN","COUNT","SORT_MERGE","TEXT","SUBPLAN"],rd=["indexName","keyPattern","indexBounds","filter","sortPattern","transformBy","limitAmount","skipAmount","direction"];function _s(e){let t=e.inputStage?_s(e.inputStage):[],n=e.stage??"",o={title:Ni.includes(n)?s(`query.plan.${n}`):n,note:Ni.includes(n)?n:void 0,parts:rd.filter(r=>e[r]!==void 0&&!(r==="direction"&&e[r]==="forward")).map(r=>[r,mt(e[r])]),noIndex:n==="COLLSCAN"&&ad(e.filter),inMemory:n==="SORT",branches:(e.inputStages??[]).map(_s)};return[...t,o]}var ad=e=>e!==void 0&&Object.keys(e).length>0,Ii=e=>_s(e.winningPlan?.queryPlan??e.winningPlan??{});function id(e){return e.stages?e.stages.flatMap(t=>{let[n,o]=Object.entries(t)[0];return n==="$cursor"?Ii(o.queryPlanner??{}):[{title:n,detail:mt(o)}]}):Ii(e.queryPlanner??{})}var ld=e=>typeof e=="string"?sd(e):id(e),Ps=e=>e.some(t=>t.noIndex||t.branches?.some(Ps));function Ai({plan:e}){let t=ld(e);return Be`<div class="query-plan">
    <p class=${Ps(t)?"verdict bad":"verdict"}>${s(Ps(t)?"query.plan.slow":"query.plan.order")}</p>
    <${Ri} steps=${t} label=${s("query.plan")} />
    <details><summary>${s("query.plan.raw")}</summary>
      <pre tabindex="0">${typeof e=="string"?e:JSON.stringify(e,null,2)}</pre></details></div>`}var Ri=({steps:e,label:t})=>Be`<ol class="steps" aria-label=${t}>${e.map(n=>Be`
  <li class=${n.noIndex?"step no-index":"step"}>
    ${n.branches?.length>0&&Be`<div class="branches">${n.branches.map((o,r)=>Be`
      <${Ri} steps=${o} label=${s("query.plan.branch",{n:r+1})} />`)}</div>`}
    <div class="step-head"><strong>${n.title}</strong>
      ${n.noIndex&&Be`<span class="badge bad">⚠ ${s("query.plan.noIndex")}</span>`}
      ${n.inMemory&&Be`<span class="badge warn">${s("query.plan.inMemory")}</span>`}
      ${n.note&&Be`<small>${n.note}</small>`}</div>
    ${n.detail&&Be`<code>${n.detail}</code>`}
    ${n.parts?.length>0&&Be`<dl>${n.parts.map(([o,r])=>Be`<dt>${o}</dt><dd><code>${r}</code></dd>`)}</dl>`}
  </li>`)}</ol>`;import{useEffect as cd,useRef as ud,useState as md}from"../vendor/preact.js";var dd=2e4,qi={pages:[],at:0,since:null,error:null,cancelled:!1,plan:null,ran:null,asked:null};function Di(e,t){let n=/\(from character (\d+) to (\d+)\)/.exec(e);if(!n)return null;let o=new TextEncoder().encode(t),r=a=>new TextDecoder().decode(o.subarray(0,a)).length;return{from:r(Number(n[1])),to:r(Number(n[2]))}}function Mi(e,t){let[n,o]=md(qi),r=ud(null);cd(()=>()=>r.current?.abort(),[]);let a=async(i,l,c)=>{r.current?.abort();let u=new AbortController;r.current=u,o(m=>({...m,...i,since:performance.now(),error:null,cancelled:!1}));try{let m=await l(u.signal);return r.current===u&&o(d=>({...d,...c(d,m),since:null})),!0}catch(m){if(r.current!==u)return!1;let d=m.name==="AbortError";return o($=>({...$,since:null,cancelled:d,error:d?null:m})),!1}finally{r.current===u&&(r.current=null)}};return{...n,run:i=>a({...qi,ran:i,asked:i},l=>vn(e,t,i,{signal:l}),(l,c)=>({pages:[{...c,first:1}],at:0})),next:()=>a({},i=>vn(e,t,n.ran,{signal:i,continuation:n.pages.at(-1).continuation}),(i,l)=>{let c=i.pages.at(-1),u=pd([...i.pages,{...l,first:c.first+c.items.length}]);return{pages:u,at:u.length-1}}),explain:i=>a({asked:i,plan:null},l=>Mt(e,t,Ts(i,{explain:!0}),l),(l,c)=>({plan:c.plan})),hidePlan:()=>o(i=>({...i,plan:null})),show:i=>o(l=>({...l,at:i})),cancel:()=>r.current?.abort()}}function pd(e){let t=e.reduce((n,o)=>n+o.items.length,0);for(;t>dd&&e.length>1;)t-=e[0].items.length,e=e.slice(1);return e}var jo=e=>e instanceof dt;var hd=["table","json","chart"],ji=pe("query.form","table"),Li=(e,t=1)=>`${S(e/1e3,{minimumFractionDigits:t,maximumFractionDigits:t})} s`,gd=e=>e>=1e3?Li(e,2):`${S(e,{maximumFractionDigits:e<10?1:0})} ms`;function _i({since:e}){let[,t]=fd(0);return $d(()=>{let n=setInterval(()=>t(o=>o+1),100);return()=>clearInterval(n)},[]),le`<span class="elapsed">${Li(performance.now()-e)}</span>`}function Pi({db:e,container:t,run:n,writesTo:o}){let r=y(ji),a=n.pages[n.at],i=n.error&&!jo(n.error);return i&&!a?le`<${g} error=${n.error} />`:n.cancelled&&!a?le`<${Z} title=${s("query.cancelled")} />`:n.plan!==null?le`<section class="query-results" aria-label=${s("query.plan")}><div class="results-head">
      <h2>${s("query.plan")}</h2><span class="grow"></span>
      ${a&&le`<button onClick=${n.hidePlan}>${s("query.plan.hide")}</button>`}</div><${Ai} plan=${n.plan} /></section>`:n.since!==null&&!a?le`<${I} lines=${6} />`:a?le`<section class="query-results" aria-label=${s("query.results")}>
    ${i&&le`<${g} error=${n.error} />`}
    <div class="results-head">
      <div class="segments" role="group" aria-label=${s("query.form")}>${hd.map(l=>le`
        <button aria-pressed=${r===l} onClick=${()=>ji.set(l)}>${s(`query.form.${l}`)}</button>`)}</div>
      <p class="numbers" role="status">${s("query.rows",{n:a.items.length})}
        <span title=${s("query.elapsed")}>${gd(a.milliseconds)}</span>
        ${a.charge!==void 0&&le`<span title=${s("query.charge")}>${S(a.charge,{maximumFractionDigits:2})} RU</span>`}
        ${n.cancelled&&le`<span>${s("query.cancelled")}</span>`}</p>
      <${bd} run=${n} />
      ${a.items.length>0&&le`<${Ei} db=${e} container=${t} run=${n} all=${!o} />`}
    </div>
    ${a.items.length===0?le`<${Z} title=${s(o?"query.written":"query.nothing")} />`:le`${r==="table"&&le`<${wi} key=${a.first} page=${a} />`}
      ${r==="json"&&le`<${$i} page=${a} />`}
      ${r==="chart"&&le`<${vi} pages=${n.pages} />`}`}</section>`:le`<${Z} title=${s("query.start")}><p>${s("query.start.how")} <kbd>Ctrl</kbd> <kbd>Enter</kbd></p><//>`}function bd({run:e}){let{pages:t,at:n}=e,o=n<t.length-1||t.at(-1).continuation;if(t.length===1&&!o)return null;let r=()=>n<t.length-1?e.show(n+1):e.next(),a=t[n].first;return le`<nav class="pager" aria-label=${s("query.pages")}>
    <button disabled=${n===0||e.since!==null} onClick=${()=>e.show(n-1)} aria-label=${s("query.previous")}>‹</button>
    <span>${s("query.range",{from:a,to:a+t[n].items.length-1})}</span>
    <button disabled=${!o||e.since!==null} onClick=${r} aria-label=${s("query.next")}>›</button></nav>`}import{html as Lo,useMemo as yd}from"../vendor/preact.js";function Bi({query:e,change:t,run:n,tree:o,containers:r,errors:a}){let i=yd(()=>Es(e.sql),[e.sql]),l=si({tree:o,containers:r,parameters:i}),c=u=>m=>t({parameters:{...e.parameters,[u]:m}});return Lo`<div class="query-editor sql"><${et} language="sql" label=${s("query.sql")} value=${e.sql}
      onChange=${u=>t({sql:u})} onRun=${n} complete=${l} errors=${a} autofocus /></div>
    <div class="query-values">
      ${i.map(u=>Lo`<${Fi} key=${u} label=${u} value=${e.parameters[u]??""} set=${c(u)}
        placeholder=${s("query.parameter.hint")} />`)}
      <${Fi} label=${s("query.partitionKey")} value=${e.partitionKey} set=${u=>t({partitionKey:u})}
        placeholder=${s("query.partitionKey.hint")} /></div>`}function Fi({label:e,value:t,set:n,placeholder:o}){let r=t.trim()?ot(t):null;return Lo`<label class="inline-field"><span>${e}</span>
    <input class="mono" value=${t} placeholder=${o} onInput=${a=>n(a.target.value)} spellcheck="false" autocomplete="off"
      aria-invalid=${r?"true":void 0} />
    ${r&&Lo`<small class="wrong">${s("query.notJSON",{why:Fe(r)})}</small>`}</label>`}import{html as ce,useEffect as wd,useMemo as Ji,useRef as kd,useState as Ui}from"../vendor/preact.js";var zi=5;function Ki(e){let{query:t,change:n}=e,o=Ji(()=>t.asText?Oo(t.text):null,[t.asText,t.text]),r=t.asText?!!o.error:t.stages.some(qt),a=i=>{i===t.asText||r||n(i?{asText:i,text:Co(t.stages)}:{asText:i,stages:o.stages})};return ce`<div class="row pipeline-head"><div class="segments" role="group" aria-label=${s("query.pipeline.as")}>
      ${[!1,!0].map(i=>ce`<button aria-pressed=${i===t.asText} disabled=${i!==t.asText&&r}
        title=${r?s("query.pipeline.mend"):void 0} onClick=${()=>a(i)}>
        ${s(i?"query.pipeline.text":"query.pipeline.stages")}</button>`)}</div>
      ${r&&ce`<small class="wrong">${s("query.pipeline.mend")}</small>`}</div>
    ${t.asText?ce`<${vd} ...${e} error=${o.error} />`:ce`<${xd} ...${e} />`}`}function vd({query:e,change:t,run:n,tree:o,containers:r,error:a,errors:i}){let l=Ji(()=>a?[{from:a.at,to:a.at+1,message:Fe(a)}]:i??[],[a,i]);return ce`<div class="query-editor tall"><${et} language="pipeline" label=${s("query.pipeline")} value=${e.text} onRun=${n}
      onChange=${c=>t({text:c})} errors=${l} complete=${xn({tree:o,containers:r,kind:"pipeline"})} /></div>
    ${a&&ce`<small class="wrong">${s("query.notJSON",{why:Fe(a)})}</small>`}
    <p class="hint">${s("query.pipeline.comments")}</p>`}function xd(e){let{query:t,change:n}=e,{stages:o}=t,[r,a]=Ui(0),i=u=>n({stages:u}),l=(u,m)=>i(o.map((d,$)=>$===u?{...d,...m}:d)),c=(u,m)=>{let d=[...o];[d[u],d[u+m]]=[d[u+m],d[u]],i(d)};return ce`<ol class="stages" aria-label=${s("query.pipeline.stages")}>${o.map((u,m)=>ce`
      <${Sd} key=${u.id} ...${e} stage=${u} i=${m} turn=${r}
        set=${d=>l(m,d)} move=${d=>c(m,d)} remove=${()=>i(o.filter(d=>d!==u))} />`)}</ol>
    <div class="row"><button onClick=${()=>i([...o,xt()])}><span aria-hidden="true">+</span>${s("query.stage.add")}</button>
      <button class="quiet" onClick=${()=>a(r+1)}><span aria-hidden="true">↻</span>${s("query.stage.refresh")}</button></div>`}function Sd({db:e,container:t,query:n,stage:o,i:r,turn:a,set:i,move:l,remove:c,run:u,tree:m,containers:d}){let{stages:$}=n,p=ve.stages.includes(o.op),f=s("query.stage.name",{n:r+1}),h=k=>{let v=k.target.value;i({op:v,text:o.text===xo(o.op)?xo(v):o.text})},b=xn({tree:m,containers:d,kind:o.op==="$match"?"filter":"stage"}),C=(k,v,w,_)=>ce`<button class="quiet" disabled=${w} onClick=${_}
    aria-label=${s(`query.stage.${k}`,{name:f})} title=${s(`query.stage.${k}`,{name:f})}>${v}</button>`;return ce`<li class=${o.enabled?"stage":"stage disabled"} aria-label=${f}>
    <div class="stage-head"><span class="detail" aria-hidden="true">${r+1}</span>
      <select aria-label=${s("query.stage.operator",{name:f})} value=${o.op} onChange=${h}>
        ${!p&&ce`<option value=${o.op} selected>${o.op}</option>`}
        ${ve.stages.map(k=>ce`<option value=${k} selected=${k===o.op}>${k}</option>`)}</select>
      <label class="choice"><input type="checkbox" checked=${o.enabled} onChange=${k=>i({enabled:k.target.checked})} />
        ${s("query.stage.enabled")}</label>
      <span class="grow"></span>
      ${C("up","↑",r===0,()=>l(-1))}${C("down","↓",r===$.length-1,()=>l(1))}
      ${C("remove","✕",!1,c)}</div>
    <div class="stage-body"><div><${Ao} label=${s("query.stage.argument",{name:f})} value=${o.text} required
        set=${k=>i({text:k})} run=${u} complete=${b} /></div>
      <${Cd} db=${e} container=${t} stages=${$} i=${r} turn=${a} name=${f} /></div></li>`}function Cd({db:e,container:t,stages:n,i:o,turn:r,name:a}){let i=n.slice(0,o+1),[l,c]=Ui({}),u=kd(""),m=n[o].enabled?So(i)?"writes":i.some($=>$.enabled&&qt($))?"wrong":"":"disabled",d=m?"":wn([...i,Ed]);return wd(()=>{if(!d)return;let $=new AbortController,p=setTimeout(async()=>{c(f=>({...f,loading:!0}));try{let f=await Mt(e,t,`{"pipeline":${d},"max":${zi}}`,$.signal);c({items:f.items})}catch(f){f.name!=="AbortError"&&c({error:f})}},u.current?500:0);return u.current=d,()=>{clearTimeout(p),$.abort()}},[d,r]),ce`<section class="stage-preview" tabindex="0" aria-label=${s("query.preview",{name:a})}>
    ${m&&ce`<p class="hint">${s(`query.preview.${m}`)}</p>`}
    ${!m&&l.error&&ce`<${g} error=${l.error} />`}
    ${!m&&!l.error&&ce`<p class="hint">${Od(l.items)}
      ${l.loading&&ce` <span class="spinner"></span>`}</p>
      ${l.items?.map($=>ce`<${Cn} value=${$} />`)}`}</section>`}function Od(e){return e?e.length?s("query.preview.n",{n:e.length}):s("query.preview.none"):s("loading")}var Ed=xt("$limit",String(zi));var Gi={sql:Bi,find:ii,aggregate:Ki},Vi=new Map;function Rd(e,t){return t.get("sql")?{...e,language:"sql",sql:t.get("sql")}:t.get("filter")?{...e,language:"find",find:{...e.find,filter:t.get("filter")}}:null}function Hi({db:e,container:t,query:n}){let o=`${e}/${t.id}`,[r,a]=Wi(()=>Rd(Os(t),n)??Vi.get(o)??Os(t)),[i,l]=Wi(null),c=Mi(e,t),u=ti(e,t),{write:m}=y(D),$=y(Se).databases?.find(w=>w.id===e)?.containers.map(w=>w.id)??[],p=Ad(r),f=w=>{p.current={...p.current,...w},a(p.current)};Td(()=>{Vi.set(o,r)},[r]);let h=async()=>{let w=p.current;ui(e,t,w);let _=_o(()=>kn(w));await c.run(w)&&_&&(T(s("query.wrote",{name:Cs(_)}),"good"),j())},b=()=>{let w=_o(()=>kn(p.current));w&&!m||(w?l("write"):h())};Dd({run:b,cancel:c.since===null?null:c.cancel});let C=Id(()=>qd(c.error,c.asked),[c.error,c.asked]),k=Gi[r.language],v=_o(()=>kn(r));return Je`<div class="query">
    <section class="panel query-form" aria-label=${s("tab.query")}>
      <div class="row query-head">
        <div class="segments" role="group" aria-label=${s("query.language")}>${Object.keys(Gi).map(w=>Je`
          <button aria-pressed=${r.language===w} onClick=${()=>f({language:w})}>
            ${s(`query.language.${w}`)}</button>`)}</div>
        <span class="grow"></span>
        <div><button class="quiet" onClick=${()=>l("save")}>${s("query.save")}</button>
          <button class="quiet" onClick=${()=>l("history")}>${s("query.history")}</button></div></div>
      <${k} db=${e} container=${t} query=${r} change=${f} run=${b} tree=${u} containers=${$}
        errors=${C} />
      <div class="row query-actions">
        ${c.since===null?Je`<button class="primary" disabled=${v&&!m} onClick=${b}><span aria-hidden="true">▶</span>${s("query.run")}</button>`:Je`<button class="danger" onClick=${c.cancel}><span aria-hidden="true">■</span>${s("query.cancel")}</button>`}
        <button disabled=${c.since!==null} onClick=${()=>c.explain(p.current)}>${s("query.plan.show")}</button>
        ${c.since!==null&&Je`<span class="row" role="status"><span class="spinner"></span>${s("query.running")}</span>
          <${_i} since=${c.since} />`}
        <span class="grow"></span>
        <label class="inline-field"><span>${s("query.max")}</span>
          <select value=${r.max} onChange=${w=>f({max:Number(w.target.value)})}>
          ${Za.map(w=>Je`<option value=${w} selected=${w===r.max}>${w}</option>`)}</select></label></div>
      ${v&&!m&&Je`<p class="hint">${s("query.readOnly")}</p>`}
      ${jo(c.error)&&Je`<div class="failure" role="alert">${c.error.message}</div>`}
    </section>
    <${Pi} db=${e} container=${t} run=${c} writesTo=${c.ran&&_o(()=>kn(c.ran))} />
    ${i==="history"&&Je`<${di} db=${e} container=${t} onClose=${()=>l(null)}
      onChoose=${w=>f(ci(p.current,w))} />`}
    ${i==="save"&&Je`<${pi} onClose=${()=>l(null)} onSave=${w=>{mi(e,t,w,r),T(s("query.saved.as",{name:w}),"good")}} />`}
    ${i==="write"&&Je`<${ee} title=${s("query.writes")} action=${s("query.run")} onClose=${()=>l(null)}
      onConfirm=${()=>{h()}}>
      <p>${s(v?.op==="$out"?"query.writes.out":"query.writes.merge",{name:v?Cs(v):""})}</p><//>`}
  </div>`}function _o(e){try{return e()}catch{return}}function qd(e,t){if(!e||!t)return[];if(t.language==="sql"){let a=Di(e.message,t.sql);return a?[{...a,message:e.message}]:[]}let n=/\$\w+/.exec(e.message)?.[0],o=t.language==="find"?t.find.filter:t.text,r=n?o.indexOf(`"${n}"`):-1;return r<0?[]:[{from:r,to:r+n.length+2,message:e.message}]}function Dd({run:e,cancel:t}){Nd(()=>{let n=o=>{if(o.defaultPrevented||o.isComposing||document.querySelector("dialog[open]"))return;let r=o.key==="Enter"&&(o.ctrlKey||o.metaKey);!r&&!(o.key==="Escape"&&t)||(o.preventDefault(),r?e():t())};return addEventListener("keydown",n),()=>removeEventListener("keydown",n)})}import{html as ye,useState as Wd}from"../vendor/preact.js";import{html as Ue,useState as Ct}from"../vendor/preact.js";import{html as ae,useEffect as Qi,useState as En}from"../vendor/preact.js";var Fs=2147483647,Md=e=>e>0?"seconds":e===-1?"on":"off",jd=e=>({state:Md(e.defaultTtl),life:e.defaultTtl>0?String(e.defaultTtl):"7776000",property:e.ttlPropertyPath??"",dates:Bt(e).map(t=>({...t,life:String(t.expireAfterSeconds),on:!0}))});function Yi(e,t,n){let o=Ve(e.life);if(e.state==="seconds"&&!(o>0&&o<=Fs))return null;let r={defaultTtl:e.state==="off"?null:e.state==="on"?-1:o};n||(r.ttlPropertyPath=e.state==="seconds"&&e.property?e.property:null);let a=[];for(let[i,l]of e.dates.entries()){let c=Ve(l.life);if(l.on&&!(c>=0&&c<=Fs))return null;let u=l.on?c:null;u!==t.dates[i].expireAfterSeconds&&a.push({index:l.index,expireAfterSeconds:u})}return a.length&&(r.dates=a),r}function Po({windows:e,living:t}){let[n]=e;return{ask:n.documents>0||!n.exact&&t.documents>0,half:n.documents*2>t.documents}}var Bs=({preview:e,container:t,onConfirm:n,onClose:o})=>ae`<${ee} title=${s("settings.ask")}
  action=${s("settings.ask.action")} typed=${Po(e).half?t.id:void 0} onConfirm=${n} onClose=${o}>
  <p>${s("settings.ask.text",{n:e.windows[0].documents,all:e.living.documents})}</p><//>`,Xi=(e,t)=>JSON.stringify(e)===JSON.stringify(t);function Js(e,t){let[n,o]=En(()=>({form:t(e),etag:e._etag})),[r,a]=En(n.form);Qi(()=>{let l=t(e),c=Xi(r,n.form);e._etag!==n.etag&&!Xi(l,n.form)&&!c||(c&&a(l),o({form:l,etag:e._etag}))},[e._etag]);let i=l=>o({form:r,etag:l});return{before:n.form,etag:n.etag,form:r,setForm:a,saved:i}}function Zi({path:e,container:t,write:n,onSaved:o}){let r=t.dialect==="mongodb",{before:a,etag:i,form:l,setForm:c,saved:u}=Js(t,jd),[m,d]=En({text:"",data:null,error:null}),[$,p]=En(null),[f,h]=En(null),b=Yi(l,a,r),C=b?JSON.stringify(b):"",k=C!==JSON.stringify(Yi(a,a,r));Qi(()=>{if(!C||!k)return;let O=new AbortController,A=setTimeout(()=>P(`${e}/lifetime/preview`,JSON.parse(C),{signal:O.signal}).then(U=>d({text:C,data:U,error:null}),U=>{U.name!=="AbortError"&&d({text:C,data:null,error:U})}),250);return()=>{clearTimeout(A),O.abort()}},[C,k]);let v=m.text===C,w=async()=>{h(null);let O=await Ld(e,t,b,r,i);u(O._etag),T(O.effect||s("settings.saved"),"good"),await o()},_=async O=>{O.preventDefault(),h(null);try{let A=await P(`${e}/lifetime/preview`,b);d({text:C,data:A,error:null}),Po(A).ask?p(A):await w()}catch(A){h(A)}},fe=O=>c(A=>({...A,...O}));return ae`<section class="panel" aria-labelledby="ttl"><h2 id="ttl">${s("ttl.title")}</h2>
    <form onSubmit=${_}><fieldset class="ttl" disabled=${!n}><legend class="visually-hidden">${s("ttl.title")}</legend>
      ${["off","on","seconds"].map(O=>ae`<label class="choice"><input type="radio" name="ttl-state" value=${O}
        checked=${l.state===O} onChange=${()=>fe({state:O})} />${s(`ttl.${O}`)}</label>`)}
      ${l.state==="seconds"&&ae`<${el} label=${s("settings.life")} value=${l.life} onInput=${O=>fe({life:O})} />`}
      ${l.state==="seconds"&&!r&&ae`<details open=${!!l.property}><summary>${s("settings.property")}</summary>
        <label class="field">${s("settings.property.path")}<input value=${l.property} placeholder="/startsAt" spellcheck="false"
          onInput=${O=>fe({property:O.target.value})} /></label></details>`}
      ${l.dates.length>0&&ae`<h3>${s("settings.dates")}</h3>${l.dates.map((O,A)=>ae`
        <${_d} rule=${O} onChange=${U=>fe({dates:l.dates.map(($t,xe)=>A===xe?U:$t)})} />`)}`}
    </fieldset>
    ${!k&&ae`<p class="hint">${He(t)}</p>`}
    ${k&&b&&ae`<${Pd} fresh=${v} data=${m.data} error=${v?m.error:null} />`}
    ${n&&ae`<div class="row buttons"><button class="primary" disabled=${!k||!b||!v||!m.data}>${s("save")}</button>
      <button type="button" disabled=${!k} onClick=${()=>c(a)}>${s("settings.discard")}</button></div>`}
    <${g} error=${f} /></form>
    ${$&&ae`<${Bs} preview=${$} container=${t} onConfirm=${w} onClose=${()=>p(null)} />`}
  </section>`}async function Ld(e,t,n,o,r){let a={headers:{"If-Match":r}};if(!o||!n.dates)return Ke(`${e}/lifetime`,{...n,dates:void 0},a);let i=t.indexes.map(l=>{let c=n.dates.find(d=>d.index===l.name);if(!c)return l;let{expireAfterSeconds:u,...m}=l;return c.expireAfterSeconds===null?m:{...m,expireAfterSeconds:c.expireAfterSeconds}});return Ke(e,{id:t.id,defaultTtl:n.defaultTtl??void 0,indexes:i},a)}function el({label:e,value:t,onInput:n}){let o=Ve(t),r=o>=0&&o<=Fs;return ae`<label class="field life">${e}
    <input value=${t} inputmode="text" spellcheck="false" aria-invalid=${!r} onInput=${a=>n(a.target.value)} />
    <small class=${r?"":"bad"}>${r?`${s("settings.seconds",{n:o})} = ${he(o)}`:s("ttl.invalid")}</small></label>`}function _d({rule:e,onChange:t}){return ae`<div class="date-rule"><label class="choice"><input type="checkbox" checked=${e.on}
      onChange=${n=>t({...e,on:n.target.checked})} /><span>${s("settings.date",{field:e.field})} <code>${e.index}</code></span></label>
    ${e.on&&ae`<${el} label=${s("settings.after",{field:e.field})} value=${e.life} onInput=${n=>t({...e,life:n})} />`}</div>`}function Pd({fresh:e,data:t,error:n}){if(n)return ae`<${g} error=${n} />`;if(!t)return ae`<p><${Ye} /></p>`;let{windows:o,living:r}=t;return ae`<div class=${e?"preview":"preview stale"} aria-live="polite">
    <h3>${s("settings.preview")} ${!t.exact&&ae`<span class="badge warn">${s("clock.estimate")}</span>`}</h3>
    <div class="scroll" tabindex="0" role="region" aria-label=${s("settings.preview")}><table>
      <thead><tr><th>${s("settings.when")}</th><th class="number">${s("home.items")}</th><th class="number">${s("home.column.bytes")}</th>
        <th>${s("settings.share")}</th><th>${s("settings.samples")}</th></tr></thead>
      <tbody>${o.map(a=>ae`<tr class=${a.name==="now"&&a.documents>0?"danger":""}>
        <th scope="row">${s(`settings.window.${a.name}`)}</th>
        <td class="number">${a.exact?"":"≈ "}${S(a.documents)}</td><td class="number">${V(a.bytes)}</td>
        <td><meter min="0" max=${Math.max(1,r.documents)} value=${a.documents} aria-label=${s("settings.share")}></meter></td>
        <td class="samples">${a.samples.map(i=>ae`<code title=${N(i.deadline.unix)}>${i.id??JSON.stringify(i._id)}</code> `)}</td></tr>`)}</tbody>
    </table></div></div>`}var Fd=e=>JSON.stringify(e,null,2);function tl({path:e,container:t,write:n,onSaved:o}){let{before:r,etag:a,form:i,setForm:l,saved:c}=Js(t,p=>Fd(p.indexingPolicy)),[u,m]=Ct(null),d=i!==r,$=async()=>{m(null);try{let p=await Ke(e,{...t,indexingPolicy:JSON.parse(i)},{headers:{"If-Match":a}});c(p._etag),T(s("settings.saved"),"good"),await o()}catch(p){m(p)}};return Ue`<section class="panel" aria-labelledby="indexing"><h2 id="indexing">${s("settings.indexing")}</h2>
    <${et} value=${i} language="json" label=${s("settings.indexing")} readOnly=${!n} onChange=${l} onSave=${$} />
    ${n&&Ue`<div class="row buttons"><button class="primary" disabled=${!d} onClick=${$}>${s("save")}</button>
      <button disabled=${!d} onClick=${()=>l(r)}>${s("settings.discard")}</button></div>`}
    <${g} error=${u} /></section>`}var Bd=e=>e.name==="_id_"||"_ts"in e.key;function nl({path:e,container:t,write:n,onSaved:o}){let[r,a]=Ct(!1),[i,l]=Ct(null),c=t.indexes??[],u=async m=>{await Ke(e,{id:t.id,defaultTtl:t.defaultTtl,indexes:m},{headers:{"If-Match":t._etag}}),T(s("settings.saved"),"good"),await o()};return Ue`<section class="panel" aria-labelledby="indexes"><div class="row"><h2 id="indexes" class="grow">${s("settings.indexes")}</h2>
      ${n&&Ue`<button onClick=${()=>a(!0)}>${s("settings.index.new")}</button>`}</div>
    <div class="scroll" tabindex="0" role="region" aria-label=${s("settings.indexes")}><table>
      <thead><tr><th>${s("name")}</th><th>${s("settings.index.key")}</th><th>${s("settings.index.options")}</th><th></th></tr></thead>
      <tbody>${c.map(m=>Ue`<tr><th scope="row">${m.name}</th><td><code>${JSON.stringify(m.key)}</code></td>
        <td>${Jd(m)}</td><td class="number">${n&&!Bd(m)&&Ue`
          <button class="quiet" aria-label=${s("settings.index.drop",{name:m.name})} onClick=${()=>l(m)}>✕</button>`}</td></tr>`)}</tbody></table></div>
    ${r&&Ue`<${Ud} path=${e} container=${t} onClose=${()=>a(!1)} make=${m=>u([...c,m])} />`}
    ${i&&Ue`<${ee} title=${s("settings.index.drop",{name:i.name})} action=${s("delete")} onClose=${()=>l(null)}
      onConfirm=${()=>u(c.filter(m=>m.name!==i.name))}><p>${s("settings.index.drop.ask")}</p><//>`}
  </section>`}function Jd({v:e,key:t,name:n,expireAfterSeconds:o,...r}){let a=o===void 0?[]:[s("settings.index.ttl",{life:he(o)})];return Object.keys(r).length&&a.push(JSON.stringify(r)),a.join(" · ")}function Ud({path:e,container:t,make:n,onClose:o}){let[r,a]=Ct('{ "field": 1 }'),[i,l]=Ct("{}"),[c,u]=Ct(""),[m,d]=Ct(null),[$,p]=Ct(null),f=async h=>{h.preventDefault(),d(null);try{let b=JSON.parse(r),C={key:b,name:Object.entries(b).flat().join("_"),...JSON.parse(i||"{}")};if(c&&(C.expireAfterSeconds=Ve(c),Number.isNaN(C.expireAfterSeconds)))throw new Error(s("ttl.invalid"));let k=await zd(e,C);if(k&&Po(k).ask){p({preview:k,index:C});return}await n(C),o()}catch(b){d(b)}};return Ue`<${B} title=${s("settings.index.new")} onClose=${o} footer=${Ue`<button onClick=${o}>${s("cancel")}</button>
      <button class="primary" onClick=${f}>${s("create")}</button>`}>
    <form onSubmit=${f}><label class="field">${s("settings.index.key")}<input class="mono" value=${r} onInput=${h=>a(h.target.value)} spellcheck="false" /></label>
      <label class="field">${s("settings.index.life")}<input value=${c} placeholder="30d" onInput=${h=>u(h.target.value)} /></label>
      <label class="field">${s("settings.index.options")}<input class="mono" value=${i} onInput=${h=>l(h.target.value)} spellcheck="false" /></label>
      <button class="hidden"></button></form><${g} error=${m} />
    ${$&&Ue`<${Bs} preview=${$.preview} container=${t} onClose=${()=>p(null)}
      onConfirm=${()=>n($.index).then(o)} />`}<//>`}async function zd(e,{key:t,expireAfterSeconds:n}){return n===void 0?null:P(`${e}/lifetime/preview`,{dates:[{field:Object.keys(t)[0],expireAfterSeconds:n}]})}import{html as Tn,useEffect as Kd,useState as ol}from"../vendor/preact.js";function sl({path:e,write:t}){let{data:n,error:o,reload:r}=M(d=>E(`${e}/throughput`,{signal:d}),[e]),[a,i]=ol(null),[l,c]=ol(null);if(Kd(()=>{n&&i(n.autoscaleMaxThroughput?{mode:"autoscale",units:n.autoscaleMaxThroughput}:{mode:"manual",units:n.throughput??""})},[n]),o)return Tn`<${g} error=${o} retry=${r} />`;if(!a)return null;let u=async d=>{d.preventDefault(),c(null);let $=Number(a.units);try{await Ke(`${e}/throughput`,a.mode==="autoscale"?{autoscaleMaxThroughput:$}:{throughput:$}),T(s("settings.saved"),"good"),r()}catch(p){c(p)}},m=!n.throughput&&!n.autoscaleMaxThroughput;return Tn`<section class="panel" aria-labelledby="throughput"><h2 id="throughput">${s("settings.throughput")}</h2>
    <p class="hint">${m?s("settings.throughput.none"):s("settings.throughput.what")}</p>
    ${!m&&Tn`<form class="row" onSubmit=${u}><fieldset class="row ttl" disabled=${!t}><legend class="visually-hidden">${s("settings.throughput")}</legend>
      ${["manual","autoscale"].map(d=>Tn`<label class="choice"><input type="radio" name="throughput" checked=${a.mode===d}
        onChange=${()=>i({...a,mode:d})} />${s(`settings.throughput.${d}`)}</label>`)}
      <label>${s("settings.throughput.units")} <input type="number" min="400" step="100" value=${a.units}
        onInput=${d=>i({...a,units:d.target.value})} /></label></fieldset>
      ${t&&Tn`<button class="primary">${s("save")}</button>`}</form>`}
    <${g} error=${l} /></section>`}function rl({db:e,container:t}){let{id:n,dialect:o,view:r}=t,{write:a}=y(D),[i,l]=Wd(!1),c=ie(e,n),{data:u,error:m,reload:d}=M(f=>E(c,{signal:f}),[c,t._etag],{keep:!0}),$=async()=>{d(),await j()};return m&&!u?ye`<${g} error=${m} retry=${d} />`:u?ye`<div class="settings">
    ${r?ye`<section class="panel"><h2>${s("settings.view")}</h2><pre>${JSON.stringify(u.options,null,2)}</pre></section>`:ye`<${Zi} path=${c} container=${u} write=${a} onSaved=${$} />
      ${o==="mongodb"?ye`<${nl} path=${c} container=${u} write=${a} onSaved=${$} />`:ye`<${tl} path=${c} container=${u} write=${a} onSaved=${$} />
        <${sl} path=${c} write=${a} /><${Gd} container=${u} />`}`}
    ${a&&ye`<section class="panel"><h2>${s("settings.delete")}</h2><div class="row"><p class="grow">${s("settings.delete.what")}</p>
      <button class="danger" onClick=${()=>l(!0)}>${s("settings.delete")}</button></div></section>`}
    ${i&&ye`<${ee} title=${s("settings.delete")} action=${s("delete")} typed=${n} onClose=${()=>l(!1)}
      onConfirm=${async()=>{await We(c),T(s("settings.deleted",{name:n}),"good"),await j(),se()}}><p>${s("settings.delete.ask",{name:n,n:u.items})} (${V(u.bytes)})</p><//>`}
  </div>`:ye`<${I} lines=${8} />`}function Gd({container:e}){let t=e.uniqueKeyPolicy?.uniqueKeys??[],n=e.partitionKey??{},o=[["settings.partitionKey",ye`<code>${(n.paths??[]).join(", ")}</code> <small>${n.kind}${n.version?` v${n.version}`:""}</small>`],["settings.uniqueKeys",t.length?ye`<ul>${t.map(r=>ye`<li><code>${r.paths.join(", ")}</code></li>`)}</ul>`:s("settings.none")],["settings.size",`${s("settings.items",{n:e.items})} · ${V(e.bytes)}`],...e.computedProperties?.length?[["settings.computed",ye`<pre>${JSON.stringify(e.computedProperties,null,2)}</pre>`]]:[],...e.conflictResolutionPolicy?[["settings.conflicts",ye`<code>${e.conflictResolutionPolicy.mode}</code>`]]:[]];return ye`<section class="panel"><h2>${s("settings.facts")}</h2><dl class="facts">
    ${o.map(([r,a])=>ye`<div><dt>${s(r)}</dt><dd>${a}</dd></div>`)}</dl></section>`}import{html as ne,useEffect as Vd,useMemo as Hd}from"../vendor/preact.js";var Yd={hour:[24,48,72],day:[7,30,90],month:[6,12,24]},al=pe("span",{by:"day",count:30}),zs=7,Xd=60;function Ws({db:e,container:t}){let n=y(al),{at:o,virtual:r}=y(ke),{databases:a}=y(Se),i=t?[t]:(a??[]).flatMap(d=>d.containers).filter(d=>!d.view),l=i.map(d=>`${d.database}/${d.id}/${d.items}/${d._etag}`).join(),{data:c,error:u,reload:m}=M(d=>Zd(i,n,d),[n,l,r?o:0],{every:t?1e4:3e4,keep:!0});return!t&&a?.length===0?ne`<${Z} title=${s("lifetime.nothing")}><a href=${R()}>${s("nav.home")}</a><//>`:ne`<h1 class="visually-hidden">${s("nav.lifetime")}</h1>
    <section class="panel ahead" aria-labelledby="ahead">
      <div class="row"><h2 id="ahead" class="grow">${s("lifetime.ahead")}</h2><${Qd} span=${n} /></div>
      ${t&&ne`<p><a class="plain" href=${R("c",e,t.id,"settings")}>${He(t)}</a></p>`}
      <${g} error=${u} retry=${m} />
      ${!c&&!u&&ne`<${I} lines=${6} />`}
      ${c&&ne`<${tp} stacks=${c} by=${n.by} />`}
    </section>
    ${!t&&ne`<${sp} />`}`}function Qd({span:e}){let t=n=>{let[o,r]=n.target.value.split("-");al.set({by:o,count:Number(r)})};return ne`<select aria-label=${s("lifetime.span")} value=${`${e.by}-${e.count}`} onChange=${t}>
    ${Object.entries(Yd).flatMap(([n,o])=>o.map(r=>ne`
      <option value=${`${n}-${r}`} selected=${e.by===n&&e.count===r}>${s(`lifetime.span.${n}`,{n:r})}</option>`))}</select>`}async function Zd(e,{by:t,count:n},o){let r={by:t,count:n},a=[...e].sort((c,u)=>u.items-c.items).slice(0,Xd),i=[];for(let c of a)if(!(c.items===0&&e.length>1))try{i.push({container:c,forecast:await E(`${ie(c.database,c.id)}/forecast`,{query:r,signal:o})})}catch(u){if(u.status!==404)throw u}let l=e.length===1&&i.length===1?i[0].forecast:await E("/forecast",{query:r,signal:o});return ep(l,i)}var Us=e=>e.buckets.reduce((t,n)=>t+n.documents,0);function ep(e,t){let n=t.filter(r=>Us(r.forecast)>0).sort((r,a)=>Us(a.forecast)-Us(r.forecast)).slice(0,zs),o=e.buckets.map((r,a)=>{let i=n.map(({container:u,forecast:m},d)=>({container:u,color:d,documents:m.buckets[a]?.documents??0})),l=r.documents-i.reduce((u,m)=>u+m.documents,0);l>0&&t.length>n.length&&i.push({container:null,color:zs,documents:l});let c=i.length?i.reduce((u,m)=>u+m.documents,0):r.documents;return{...r,documents:c,parts:i.filter(u=>u.documents>0)}});return{total:e,buckets:o,shown:n.map(r=>r.container),others:o.some(r=>r.parts.some(a=>!a.container))}}function tp({stacks:e,by:t}){let{total:n,buckets:o,shown:r,others:a}=e,i=Math.max(1,...o.map(c=>c.documents)),l=o.reduce((c,u)=>c+u.documents,0);return ne`<p class="totals">
      <strong>${s("lifetime.ends",{n:l})}</strong> · ${s("lifetime.later",{n:n.beyond.documents})} · ${s("lifetime.never",{n:n.noEnd.documents})}
      ${!n.exact&&ne` <span class="badge warn" title=${s("lifetime.estimate.why")}>${s("clock.estimate")}</span>`}</p>
    <div class="columns" role="group" aria-label=${s("lifetime.bars")}>
      <span class="top" aria-hidden="true">${gt(i)}</span>
      ${o.map(c=>ne`<${np} key=${c.from.unix} bucket=${c} tallest=${i} by=${t} />`)}</div>
    <div class="ticks" aria-hidden="true">${op(o).map(c=>ne`<span>${Ks(c.from.unix,t)}</span>`)}</div>
    ${r.length>1&&ne`<ul class="legend-list">${r.map((c,u)=>ne`<li><span class=${`swatch s${u}`}></span>
      <a href=${R("c",c.database,c.id,"lifetime")}>${c.database} / ${c.id}</a></li>`)}
      ${a&&ne`<li><span class=${`swatch s${zs}`}></span>${s("lifetime.others")}</li>`}</ul>`}
    <details><summary>${s("lifetime.numbers")}</summary><div class="scroll" tabindex="0" role="region" aria-label=${s("lifetime.numbers")}>
      <table><thead><tr><th>${s("lifetime.from")}</th><th class="number">${s("home.items")}</th><th class="number">${s("home.column.bytes")}</th></tr></thead>
      <tbody>${o.filter(c=>c.documents>0).map(c=>ne`<tr><th scope="row" title=${F(c.from.unix)}>${Ks(c.from.unix,t,!0)}</th>
        <td class="number">${S(c.documents)}</td><td class="number">${V(c.bytes)}</td></tr>`)}</tbody></table></div></details>`}function np({bucket:e,tallest:t,by:n}){let{from:o,until:r,parts:a}=e,i=l=>s("lifetime.bar",{n:l.documents,time:Ks(o.unix,n,!0),name:l.container?`${l.container.database} / ${l.container.id}`:s("lifetime.others")});return ne`<div class="column">${a.map(l=>{let c={height:`max(3px, ${100*l.documents/t}%)`};if(!l.container)return ne`<span class=${`part s${l.color}`} style=${c} title=${i(l)}></span>`;let u=R("c",l.container.database,l.container.id,"items",{expiring:`${o.unix}-${r.unix}`});return ne`<a class=${`part s${l.color}`} style=${c} href=${u} title=${i(l)} aria-label=${i(l)}></a>`})}</div>`}var op=e=>{let t=Math.max(1,Math.ceil(e.length/6));return e.filter((n,o)=>o%t===0)};function Ks(e,t,n){let o={timeZone:"UTC"};return t==="hour"?N(e,{...o,hour:"2-digit",minute:"2-digit",...n&&{day:"numeric",month:"short"}}):t==="day"?N(e,{...o,day:"numeric",month:"short",...n&&{year:"numeric"}}):N(e,{...o,month:"short",year:"numeric"})}function sp(){let e=y(It);Vd(Qn,[]);let t=Hd(()=>{let i=e.slice(-300);return[i.map(l=>l.time),i.map(l=>l.written),i.map(l=>l.expired),i.map(l=>l.reclaimed)]},[e]),n=()=>({legend:{show:!1},scales:{y:{range:(i,l,c)=>[0,Math.max(c,5)]}},axes:[to(),it({size:48})],series:[{},...[0,1,2].map(i=>({stroke:Xe(i),fill:i<2?Xe(i,.12):void 0,width:1.5}))]}),{backlog:o,lag:r}=Zn(e),a=e.slice(-10).reduce((i,l)=>i+l.reclaimed,0)/Math.max(1,Math.min(10,e.length));return ne`<section class="panel tide" aria-labelledby="tide"><h2 id="tide">${s("lifetime.tide")}</h2>
    <p class="legend-line">${["written","expired","reclaimed"].map((i,l)=>ne`<span class=${`swatch s${l}`}></span>${s(`lifetime.${i}`)} `)}</p>
    <${Ut} make=${n} data=${t} height=${160} label=${s("lifetime.tide.label")} />
    <dl class="reclaim"><div><dt>${s("home.backlog")}</dt><dd>${S(o)}</dd></div>
      <div><dt>${s("lifetime.rate")}</dt><dd>${s("home.rate",{n:Math.round(a)})}</dd></div>
      <div><dt>${s("lifetime.lag")}</dt><dd>${Ie(r)}</dd></div></dl></section>`}import{html as Le,useEffect as rp,useMemo as ap,useState as Fo}from"../vendor/preact.js";var ip=[1,60,3600,86400,604800,2592e3],il={hour:72,day:60,month:24};function ll(){let{virtual:e,at:t}=y(ke),{write:n}=y(D),[o,r]=Fo(null);if(!e)return Le`<${Z} title=${s("clock.real")}><p>${s("clock.real.how")}</p><pre>mayfly --clock=virtual</pre><//>`;let a=async(c,u)=>{r(null);try{let m=await P(c,u);Pt(m),T(s("clock.moved",{time:N(Date.parse(m.time)/1e3)}),"good"),j()}catch(m){r(m)}},i=c=>a("/clock/advance",{duration:`${c}s`}),l=c=>a("/clock/set",{time:F(c)});return Le`<h1 class="visually-hidden">${s("nav.clock")}</h1>
    <section class="panel clock-now"><time datetime=${F(t)}>${N(t)}</time><small>${F(t)}</small>
      ${n&&Le`<div class="row">${ip.map(c=>Le`<button onClick=${()=>i(c)}>+ ${he(c)}</button>`)}</div>
      <${lp} at=${t} goTo=${l} /><p class="hint">${s("clock.forward")}</p>`}<${g} error=${o} /></section>
    <${cp} at=${t} goTo=${n?l:()=>{}} />`}function lp({at:e,goTo:t}){let[n,o]=Fo(""),r=Date.parse(`${n}Z`)/1e3;return Le`<form class="row" onSubmit=${i=>{i.preventDefault(),r>e&&t(r)}}><label>${s("clock.date")}
      <input type="datetime-local" step="1" value=${n} min=${F(e).slice(0,19)} onInput=${i=>o(i.target.value)} /></label>
    <button class="primary" disabled=${!(r>e)}>${s("clock.go")}</button></form>`}function cp({at:e,goTo:t}){let[n,o]=Fo("day"),[r,a]=Fo(0),{data:i,error:l,reload:c}=M(h=>E("/forecast",{query:{by:n,count:il[n]},signal:h}),[n,e]);rp(()=>a(0),[n,e]);let u=i?.buckets??[],m=ap(()=>up(u),[i]);if(l)return Le`<${g} error=${l} retry=${c} />`;let d=Math.max(1,...u.map(h=>h.documents)),$=m[r],p=r===0?e:u[r-1]?.until.unix??e,f=()=>{r>0&&t(p)};return Le`<section class="panel scrubber" aria-labelledby="scrubber"><div class="row"><h2 id="scrubber" class="grow">${s("clock.ahead")}</h2>
      <select aria-label=${s("clock.by")} value=${n} onChange=${h=>o(h.target.value)}>
        ${Object.keys(il).map(h=>Le`<option value=${h} selected=${h===n}>${s(`clock.by.${h}`)}</option>`)}</select></div>
    ${!i&&Le`<${I} />`}
    ${i&&Le`<div class="bars" aria-hidden="true">${u.map((h,b)=>Le`<div class=${b<r?"gone":""}
        title=${`${N(h.from.unix)}: ${gt(h.documents)}`}><span style=${{height:`${100*h.documents/d}%`}}></span></div>`)}</div>
      <input type="range" min="0" max=${u.length} value=${r} aria-label=${s("clock.scrub")}
        aria-valuetext=${s("clock.gone",{n:$?.documents??0,time:N(p)})}
        onInput=${h=>a(Number(h.target.value))} onPointerUp=${f}
        onKeyDown=${h=>{h.key==="Enter"&&f()}} />
      <p class="result" aria-live="polite">${r===0?s("clock.drag"):Le`${s("clock.gone",{n:$.documents,time:N(p)})}
        <span class="detail"> ${V($.bytes)}${i.exact?"":` · ${s("clock.estimate")}`}</span>`}</p>`}
  </section>`}function up(e){let t=[{documents:0,bytes:0}];for(let n of e){let o=t.at(-1);t.push({documents:o.documents+n.documents,bytes:o.bytes+n.bytes})}return t}import{html as or,useEffect as Xp}from"../vendor/preact.js";import{html as Ee,useEffect as dp,useMemo as pp,useRef as $p,useState as Nn}from"../vendor/preact.js";import{html as Gs}from"../vendor/preact.js";var mp={hour:"2-digit",minute:"2-digit",second:"2-digit"};function st({time:e,short:t}){let n=new Date(e),o=t&&n.toDateString()===new Date().toDateString();return Gs`<time datetime=${e} title=${e}>${N(n/1e3,o?mp:void 0)}</time>`}var _e=({label:e,text:t,note:n})=>Gs`<div class="copyable"><div class="row"><h3 class="grow">${e}</h3>
    <button class="quiet" aria-label=${s("operations.copy.of",{name:e})} onClick=${()=>yt(t)}>${s("operations.copy")}</button></div>
  <pre class=${t.includes(`
`)?"":"wrap"} tabindex="0" role="region" aria-label=${e}>${t}</pre>${n&&Gs`<p class="hint">${n}</p>`}</div>`;function Bo(e,t){let n=URL.createObjectURL(t),o=document.createElement("a");o.href=n,o.download=e,o.click(),setTimeout(()=>URL.revokeObjectURL(n),6e4)}var Vs=100,fp=e=>e.split(`
`).filter(Boolean).map(t=>JSON.parse(t)),cl=(e,t)=>G("GET","/audit",{query:e,signal:t,as:"text",headers:{Accept:"*/*"}}).then(n=>fp(n.body));function hp(e,t){let n=e.at(-1)?.number??0;return t.length>0&&t[0].number<=n+1&&t.at(-1).number>=n?[...e,...t.filter(r=>r.number>n)]:t}function gp(){let[e,t]=Nn({all:void 0,error:null,whole:!1}),n=$p([]),o=(c,u)=>{n.current=c;let m=c[0]?.number??1;t(d=>({all:c,error:null,whole:m===1||d.whole&&m===d.all?.[0]?.number,...u}))},r=c=>{c.name!=="AbortError"&&t(u=>({...u,error:c}))},[a,i]=Nn(0);dp(()=>{let c=new AbortController,u=()=>cl({max:Vs},c.signal).then(d=>o(hp(n.current,d)),r);u();let m=setInterval(()=>{document.hidden||u()},5e3);return()=>{clearInterval(m),c.abort()}},[a]);let l=async()=>{let c=n.current[0].number;try{let u=c-1-Vs,m=u>0?{after:u}:{since:"1970-01-01T00:00:00Z"},d=(await cl({...m,max:Vs})).filter($=>$.number<c);n.current[0].number===c&&o([...d,...n.current],d.length?{}:{whole:!0})}catch(u){r(u)}};return{events:e.all?.toReversed(),error:e.error,whole:e.whole,older:l,reload:()=>i(a+1)}}function ul(){let{events:e,error:t,whole:n,older:o,reload:r}=gp(),[a,i]=Nn(""),[l,c]=Nn(""),[u,m]=Nn(null),d=a.trim().toLowerCase(),$=pp(()=>e?.filter(h=>!d||JSON.stringify(h).toLowerCase().includes(d)),[e?.length,e?.[0]?.number,d]),p=async(h,b)=>{c(h),m(null),await b().catch(m),c("")},f=async()=>{let h=await G("GET","/audit",{query:{max:"0"},as:"response",headers:{Accept:"*/*"}});Bo("mayfly-audit.jsonl",await h.blob())};return Ee`<section class="panel" aria-labelledby="audit"><div class="row panel-head"><h2 id="audit" class="grow">${s("operations.audit")}</h2>
      <input type="search" aria-label=${s("operations.audit.filter")} placeholder=${s("operations.audit.filter")} value=${a} onInput=${h=>i(h.target.value)} />
      <button disabled=${l!==""} onClick=${()=>p("export",f)}>${l==="export"&&Ee`<${Ye} />`}${s("operations.audit.export")}</button></div>
    <p class="hint">${s("operations.audit.what")}</p>
    <${g} error=${u??t} retry=${u?void 0:r} />
    ${!e&&!t&&Ee`<${I} lines=${6} />`}
    ${e?.length===0&&Ee`<p class="hint">${s("operations.audit.none")}</p>`}
    ${e?.length>0&&$.length===0&&Ee`<p class="hint">${s("operations.audit.nothing",{n:e.length})}</p>`}
    ${$?.length>0&&Ee`<div class="scroll" tabindex="0" role="region" aria-label=${s("operations.audit")}><table class="audit-table">
      <thead><tr><th class="number">${s("operations.audit.number")}</th><th>${s("operations.time")}</th><th>${s("operations.audit.change")}</th><th>${s("operations.audit.who")}</th></tr></thead>
      <tbody>${$.map(h=>Ee`<${bp} key=${h.number} event=${h} />`)}</tbody></table></div>`}
    ${e?.length>0&&Ee`<div class="row buttons">${!n&&Ee`<button disabled=${l!==""} onClick=${()=>p("older",o)}>${s("operations.audit.older")}</button>`}
      <small role="status">${s(d?"operations.audit.matching":"operations.audit.count",{n:$.length,all:e.length})}</small></div>`}</section>`}function bp({event:e}){let t=Date.parse(e.time)/1e3;return Ee`<tr><td class="number">${e.number}</td><td><time datetime=${e.time} title=${F(Math.floor(t))}>${N(t)}</time></td>
    <td class="change"><strong>${e.action}</strong> ${e.kind} ${e.target&&Ee`<code>${e.target}</code>`}<${wp} changes=${e.changes??[]} /></td>
    <td><span class="badge">${e.api}</span> ${e.principal??""} <small>${e.address??""}</small></td></tr>`}var Jo=e=>e===void 0?"–":typeof e=="string"?e:JSON.stringify(e),yp=60;function wp({changes:e}){if(e.length===0)return null;let t=Ee`<ul>${e.map(o=>Ee`<li>${o.name}: <code>${Jo(o.before)}</code> → <code>${Jo(o.after)}</code></li>`)}</ul>`;return e.map(o=>o.name+Jo(o.before)+Jo(o.after)).join("").length<=yp?t:Ee`<details><summary>${s("operations.audit.settings",{n:e.length})}</summary>${t}</details>`}import{html as Y,useState as vp}from"../vendor/preact.js";var Hs="java -Djavax.net.ssl.trustStore=mayfly.p12 -Djavax.net.ssl.trustStorePassword=changeit Main.java",ml={go:({endpoint:e,key:t})=>({install:"go get github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos",file:"main.go",run:"go run .",program:`package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

func main() {
	ctx := context.Background()
	key, err := azcosmos.NewKeyCredential("${t}")
	check(err)
	client, err := azcosmos.NewClientWithKey("${e}", key, nil)
	check(err)
	_, err = client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "shop"}, nil)
	check(err)
	shop, err := client.NewDatabase("shop")
	check(err)
	aDay := int32(24 * 60 * 60)
	_, err = shop.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID:                     "carts",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/user"}},
		DefaultTimeToLive:      &aDay,
	}, nil)
	check(err)
	carts, err := shop.NewContainer("carts")
	check(err)
	ada := azcosmos.NewPartitionKeyString("ada")
	_, err = carts.UpsertItem(ctx, ada, []byte(\`{"id": "1", "user": "ada"}\`), nil)
	check(err)
	item, err := carts.ReadItem(ctx, ada, "1", nil)
	check(err)
	fmt.Println(string(item.Value))
}

// check ends the program, except where something exists already.
func check(err error) {
	var answer *azcore.ResponseError
	if err != nil && !(errors.As(err, &answer) && answer.StatusCode == http.StatusConflict) {
		log.Fatal(err)
	}
}
`}),javascript:({endpoint:e,key:t})=>({install:"npm install @azure/cosmos",file:"first.mjs",run:"node first.mjs",program:`import { CosmosClient } from "@azure/cosmos";

const client = new CosmosClient({
  endpoint: "${e}",
  key: "${t}",
});
const { database } = await client.databases.createIfNotExists({ id: "shop" });
const carts = { id: "carts", partitionKey: "/user", defaultTtl: 24 * 60 * 60 };
const { container } = await database.containers.createIfNotExists(carts);
await container.items.upsert({ id: "1", user: "ada" });
const { resource } = await container.item("1", "ada").read();
console.log(resource);
`}),python:({endpoint:e,key:t})=>({install:"pip install azure-cosmos",file:"first.py",run:"python first.py",program:`from azure.cosmos import CosmosClient, PartitionKey

KEY = "${t}"
client = CosmosClient("${e}", KEY)
database = client.create_database_if_not_exists("shop")
carts = database.create_container_if_not_exists(
    "carts", partition_key=PartitionKey("/user"), default_ttl=24 * 60 * 60)
carts.upsert_item({"id": "1", "user": "ada"})
print(carts.read_item("1", partition_key="ada"))
`}),java:({endpoint:e,key:t,trust:n})=>({install:`<!-- pom.xml -->
<dependency>
  <groupId>com.azure</groupId>
  <artifactId>azure-cosmos</artifactId>
  <version>4.81.0</version>
</dependency>`,file:"Main.java",run:n?Hs:"java Main.java",program:`import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosClientBuilder;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.CosmosDatabase;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.PartitionKey;
import java.util.Map;

public class Main {
    public static void main(String[] args) {
        try (CosmosClient client = new CosmosClientBuilder()
                .endpoint("${e}")
                .key("${t}")
                .gatewayMode()
                .buildClient()) {
            client.createDatabaseIfNotExists("shop");
            CosmosDatabase shop = client.getDatabase("shop");
            CosmosContainerProperties properties = new CosmosContainerProperties("carts", "/user");
            properties.setDefaultTimeToLiveInSeconds(24 * 60 * 60);
            shop.createContainerIfNotExists(properties);
            CosmosContainer carts = shop.getContainer("carts");
            carts.upsertItem(Map.of("id", "1", "user", "ada"));
            System.out.println(carts.readItem("1", new PartitionKey("ada"), Map.class).getItem());
        }
    }
}
`}),csharp:({endpoint:e,key:t})=>({install:`dotnet add package Microsoft.Azure.Cosmos
dotnet add package Newtonsoft.Json`,file:"Program.cs",run:"dotnet run",program:`using Microsoft.Azure.Cosmos;

var options = new CosmosClientOptions { ConnectionMode = ConnectionMode.Gateway };
using var client = new CosmosClient(
    "${e}",
    "${t}",
    options);
Database database = await client.CreateDatabaseIfNotExistsAsync("shop");
Container carts = await database.CreateContainerIfNotExistsAsync(
    new ContainerProperties("carts", "/user") { DefaultTimeToLive = 24 * 60 * 60 });
await carts.UpsertItemAsync(new { id = "1", user = "ada" }, new PartitionKey("ada"));
var item = await carts.ReadItemAsync<dynamic>("1", new PartitionKey("ada"));
Console.WriteLine(item.Resource);
`}),rust:({endpoint:e,key:t})=>({install:`cargo add azure_data_cosmos --features key_auth,control_plane
cargo add tokio --features macros,rt-multi-thread
cargo add serde_json`,file:"src/main.rs",run:"cargo run",program:`use azure_data_cosmos::models::{ContainerProperties, TimeToLive};
use azure_data_cosmos::options::Region;
use azure_data_cosmos::{AccountReference, CosmosClient, RoutingStrategy};
use serde_json::{Value, json};

const KEY: &str = "${t}";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let account = AccountReference::with_authentication_key("${e}".parse()?, KEY.to_string());
    let client = CosmosClient::builder().build(account, RoutingStrategy::ProximityTo(Region::EAST_US)).await?;
    let _ = client.create_database("shop", None).await; // it may exist already
    let shop = client.database_client("shop");
    let carts = ContainerProperties::new("carts", "/user".into()).with_default_ttl(TimeToLive::Seconds(24 * 60 * 60));
    let _ = shop.create_container(carts, None).await;
    let carts = shop.container_client("carts", None).await?;
    carts.upsert_item("ada", "1", json!({"id": "1", "user": "ada"}), None).await?;
    let item: Value = carts.read_item("ada", "1", None).await?.into_model()?;
    println!("{item}");
    Ok(())
}
`})};var dl={go:({uri:e})=>({install:"go get go.mongodb.org/mongo-driver/v2/mongo",file:"main.go",run:"go run .",program:`package main

import (
	"context"
	"fmt"
	"log"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func main() {
	ctx := context.Background()
	client, err := mongo.Connect(options.Client().ApplyURI("${e}"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Disconnect(ctx)
	tokens := client.Database("shop").Collection("tokens")
	aDay := mongo.IndexModel{
		Keys:    bson.D{{Key: "_ts", Value: 1}},
		Options: options.Index().SetExpireAfterSeconds(24 * 60 * 60),
	}
	if _, err := tokens.Indexes().CreateOne(ctx, aDay); err != nil {
		log.Fatal(err)
	}
	if _, err := tokens.InsertOne(ctx, bson.D{{Key: "user", Value: "ada"}}); err != nil {
		log.Fatal(err)
	}
	n, err := tokens.CountDocuments(ctx, bson.D{{Key: "user", Value: "ada"}})
	fmt.Println(n, err)
}
`}),javascript:({uri:e})=>({install:"npm install mongodb",file:"first.mjs",run:"node first.mjs",program:`import { MongoClient } from "mongodb";

const client = new MongoClient("${e}");
const tokens = client.db("shop").collection("tokens");
await tokens.createIndex({ _ts: 1 }, { expireAfterSeconds: 24 * 60 * 60 });
await tokens.insertOne({ user: "ada" });
console.log(await tokens.findOne({ user: "ada" }));
await client.close();
`}),python:({uri:e})=>({install:"pip install pymongo",file:"first.py",run:"python first.py",program:`from pymongo import MongoClient

client = MongoClient("${e}")
tokens = client.shop.tokens
tokens.create_index({"_ts": 1}, expireAfterSeconds=24 * 60 * 60)
tokens.insert_one({"user": "ada"})
print(tokens.find_one({"user": "ada"}))
`}),java:({uri:e,trust:t})=>({install:`<!-- pom.xml -->
<dependency>
  <groupId>org.mongodb</groupId>
  <artifactId>mongodb-driver-sync</artifactId>
  <version>5.14.0</version>
</dependency>`,file:"Main.java",run:t?Hs:"java Main.java",program:`import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Indexes;
import java.util.concurrent.TimeUnit;
import org.bson.Document;

public class Main {
    public static void main(String[] args) {
        try (MongoClient client = MongoClients.create("${e}")) {
            MongoCollection<Document> tokens = client.getDatabase("shop").getCollection("tokens");
            tokens.createIndex(Indexes.ascending("_ts"), new IndexOptions().expireAfter(86400L, TimeUnit.SECONDS));
            tokens.insertOne(new Document("user", "ada"));
            System.out.println(tokens.find(new Document("user", "ada")).first());
        }
    }
}
`}),csharp:({uri:e})=>({install:"dotnet add package MongoDB.Driver",file:"Program.cs",run:"dotnet run",program:`using MongoDB.Bson;
using MongoDB.Driver;

var client = new MongoClient("${e}");
var tokens = client.GetDatabase("shop").GetCollection<BsonDocument>("tokens");
await tokens.Indexes.CreateOneAsync(new CreateIndexModel<BsonDocument>(
    Builders<BsonDocument>.IndexKeys.Ascending("_ts"),
    new CreateIndexOptions { ExpireAfter = TimeSpan.FromDays(1) }));
await tokens.InsertOneAsync(new BsonDocument("user", "ada"));
Console.WriteLine(await tokens.Find(new BsonDocument("user", "ada")).FirstAsync());
`}),rust:({uri:e})=>({install:`cargo add mongodb
cargo add tokio --features macros,rt-multi-thread`,file:"src/main.rs",run:"cargo run",program:`use mongodb::bson::{Document, doc};
use mongodb::options::IndexOptions;
use mongodb::{Client, IndexModel};
use std::time::Duration;

#[tokio::main]
async fn main() -> mongodb::error::Result<()> {
    let client = Client::with_uri_str("${e}").await?;
    let tokens = client.database("shop").collection::<Document>("tokens");
    let a_day = IndexOptions::builder().expire_after(Duration::from_secs(24 * 60 * 60)).build();
    tokens.create_index(IndexModel::builder().keys(doc! {"_ts": 1}).options(a_day).build()).await?;
    tokens.insert_one(doc! {"user": "ada"}).await?;
    println!("{:?}", tokens.find_one(doc! {"user": "ada"}).await?);
    Ok(())
}
`}),mongosh:({uri:e})=>({install:"npm install --global mongosh",file:"first.js",run:`mongosh --quiet "${e}" first.js`,program:`const tokens = db.getSiblingDB("shop").tokens;
tokens.createIndex({ _ts: 1 }, { expireAfterSeconds: 24 * 60 * 60 });
tokens.insertOne({ user: "ada" });
print(tokens.findOne({ user: "ada" }));
`})};var Ys=["go","javascript","python","java","csharp","rust","mongosh"],fl={go:"Go",javascript:"JavaScript",python:"Python",java:"Java",csharp:"C#",rust:"Rust",mongosh:"mongosh"},An="KEY",en="mayfly-ca.pem",Xs=e=>/^\w+:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])[:/]/.test(e);function Qs({mongo:e,mongoAuth:t,key:n},{tls:o=!1,file:r=!0}={}){let[a,i]=e.split("?"),l=t?`mayfly:${encodeURIComponent(n||An)}@`:"",c=o?[`tls=true${r?`&tlsCAFile=${en}`:""}`]:[],u=[...i?[i]:[],...c].join("&");return a.replace("://",`://${l}`)+(u?`?${u}`:"")}var hl=({nosql:e,key:t})=>`AccountEndpoint=${e};AccountKey=${t||An};`,In=e=>`export ${e}=$PWD/${en}`,pl=`keytool -importcert -noprompt -alias mayfly -file ${en} \\
    -keystore mayfly.p12 -storetype PKCS12 -storepass changeit`,$l=`${In("SSL_CERT_FILE")}                                       # Linux
certutil -user -addstore Root ${en}                                   # Windows, for the user
security add-trusted-cert -k ~/Library/Keychains/login.keychain ${en} # macOS`;function kp(e,t,{nosql:n,ca:o},r){if(!o||(t==="mongodb"?!r:!n.startsWith("https:")))return"";let a=Xs(n),i={nosql:{go:In("SSL_CERT_FILE"),javascript:In("NODE_EXTRA_CA_CERTS"),java:pl,csharp:$l,python:a?"":In("REQUESTS_CA_BUNDLE"),rust:In("SSL_CERT_FILE")},mongodb:{java:pl,csharp:$l,go:"#",javascript:"#",python:"#",rust:"#",mongosh:"#"}}[t][e];return i?`curl -o ${en} ${o}${i==="#"?"":`
${i}`}`:""}function gl(e,t,n,{tls:o=!1}={}){let r={nosql:ml,mongodb:dl}[t][e];if(!r)return null;let a=kp(e,t,n,o),i=t==="mongodb"?Qs(n,{tls:o,file:e!=="java"&&e!=="csharp"}):"";return{trust:a,...r({endpoint:n.nosql,key:n.key||An,uri:i,trust:a})}}function bl(){let{data:e,error:t,reload:n}=M(o=>E("/endpoints",{signal:o}),[]);return e?Y`<${xp} endpoints=${e} /><${Op} endpoints=${e} />`:t?Y`<${g} error=${t} retry=${n} />`:Y`<${I} lines=${8} />`}function xp({endpoints:e}){let{nosql:t,mongo:n,ca:o,key:r,memory:a}=e;return Y`<section class="panel" aria-labelledby="strings"><h2 id="strings">${s("operations.connect.strings")}</h2>
    <div class="copyables">
      ${t?Y`<${_e} label=${s("operations.connect.nosql")} text=${t} /><${_e} label=${s("operations.connect.account")} text=${hl(e)} />`:Y`<p class="hint">${s("operations.connect.off",{name:"NoSQL"})}</p>`}
      ${n?Y`<${_e} label="MongoDB" text=${Qs(e)} />`:Y`<p class="hint">${s("operations.connect.off",{name:"MongoDB"})}</p>`}
      ${r&&Y`<${_e} label=${s("operations.connect.key")} text=${r} note=${s("operations.connect.key.known")} />`}
      ${o&&Y`<${_e} label=${s("operations.connect.ca")} text=${`curl -o mayfly-ca.pem ${o}`}
        note=${s(a?"operations.connect.ca.memory":"operations.connect.ca.what")} />`}</div>
    ${!r&&Y`<${Sp} />`}</section>`}function Sp(){let{data:e}=M(n=>E("/keys",{signal:n}),[]),t=e?.keys.find(n=>n.name==="primary")?.origin;return Y`<p class="hint">${s("operations.connect.key.where",{key:An})} <code>mayfly key show primary</code>
    ${t&&Y` (${s("operations.connect.key.origin",{origin:t})})`}</p>`}var Cp=(e,t)=>["nosql","mongodb"].filter(n=>n==="nosql"?t.nosql&&e!=="mongosh":t.mongo);function Op({endpoints:e}){let{query:t}=Jt(),n=Ys.includes(t.get("language"))?t.get("language"):"javascript",o=Cp(n,e),r=o.includes(t.get("api"))?t.get("api"):o[0],[a,i]=vp(!!e.ca&&!Xs(e.mongo)),l=u=>R("operations","connect",{language:n,...r?{api:r}:{},...u}),c=r?gl(n,r,e,{tls:a}):null;return Y`<section class="panel programs" aria-labelledby="programs"><h2 id="programs">${s("operations.connect.programs")}</h2>
    <nav class="tabs" aria-label=${s("operations.connect.language")}>${Ys.map(u=>Y`<a href=${l({language:u})}
      aria-current=${u===n?"true":void 0}>${fl[u]}</a>`)}</nav>
    <div class="row choices">${o.map(u=>Y`<a class="button" href=${l({api:u})} aria-current=${u===r?"true":void 0}>
        ${u==="nosql"?"NoSQL":"MongoDB"}</a>`)}
      ${r==="mongodb"&&e.ca&&Y`<label class="choice"><input type="checkbox" checked=${a} onChange=${u=>i(u.target.checked)} />
        ${s("operations.connect.tls")}</label>`}</div>
    ${!c&&Y`<p class="hint">${s("operations.connect.off",{name:n==="mongosh"?"MongoDB":"NoSQL"})}</p>`}
    ${c&&Y`<${Ep} key=${`${n}/${r}`} shown=${c} language=${n} api=${r} endpoints=${e} />`}</section>`}function Ep({shown:e,language:t,api:n,endpoints:o}){let r=t==="csharp",a=t==="java"&&n==="nosql"&&!o.nosql.startsWith("https:");return Y`<div class="steps">
    ${r&&Y`<p class="hint">${s("operations.connect.untested")}</p>`}
    ${a&&Y`<p class="hint">${s("operations.connect.https")}</p>`}
    <${_e} label=${s("operations.connect.install")} text=${e.install} />
    ${e.trust&&Y`<${_e} label=${s("operations.connect.trust")} text=${e.trust} note=${Tp(t,n)} />`}
    <${_e} label=${e.file} text=${e.program} />
    <${_e} label=${s("operations.connect.run")} text=${e.run} /></div>`}function Tp(e,t){return e==="java"?s("operations.connect.trust.java"):t==="mongodb"?e==="csharp"?void 0:s("operations.connect.trust.mongodb"):{go:s("operations.connect.trust.replaces"),rust:s("operations.connect.trust.replaces.rust"),python:s("operations.connect.trust.replaces"),javascript:s("operations.connect.trust.adds")}[e]}import{html as pt,useState as Np}from"../vendor/preact.js";var yl={nosql:"NoSQL",mongo:"MongoDB",admin:"Admin"};function wl(){let{data:e,error:t,reload:n}=M(m=>E("/connections",{signal:m}),[],{every:3e3}),[o,r]=Np("");if(!e)return t?pt`<${g} error=${t} retry=${n} />`:pt`<${I} lines=${6} />`;let{connections:a,total:i}=e,l=a.filter(m=>!o||m.api===o),c=m=>a.filter(d=>!m||d.api===m).length,u=(m,d)=>pt`<label class="choice"><input type="radio" name="api" checked=${o===m} onChange=${()=>r(m)} />
    ${d} <small>${S(c(m))}</small></label>`;return pt`<section class="panel" aria-labelledby="connections"><div class="row panel-head"><h2 id="connections" class="grow">${s("operations.connections")}</h2>
      <fieldset class="row choices"><legend class="visually-hidden">${s("container.dialect")}</legend>
        ${u("",s("operations.all"))}${Object.entries(yl).map(([m,d])=>u(m,d))}</fieldset></div>
    ${i>a.length&&pt`<p class="hint">${s("operations.connections.first",{n:a.length,total:i})}</p>`}
    <${g} error=${t} retry=${n} />
    ${l.length===0?pt`<p class="hint">${s("operations.connections.none")}</p>`:pt`<div class="scroll" tabindex="0" role="region" aria-label=${s("operations.connections")}><table class="connections-table">
      <thead><tr><th>${s("container.dialect")}</th><th>${s("operations.connections.remote")}</th><th>${s("operations.connections.client")}</th>
        <th>${s("operations.connections.user")}</th><th>${s("operations.connections.since")}</th><th class="number">${s("operations.connections.requests")}</th>
        <th class="number">${s("operations.connections.active")}</th></tr></thead>
      <tbody>${l.map(m=>pt`<tr key=${m.id}><td><span class="badge">${yl[m.api]??m.api}</span></td><td class="mono">${m.remote}</td>
        <td class="ellipsis client" title=${m.client}>${m.client||"–"}</td><td>${m.user||"–"}</td>
        <td><${st} time=${m.since} /> <small>${Ie((Date.now()-Date.parse(m.since))/1e3)}</small></td>
        <td class="number">${S(m.requests)}</td><td class="number">${m.active>0?pt`<strong>${S(m.active)}</strong>`:"0"}</td></tr>`)}</tbody></table></div>`}
  </section>`}import{html as we,useState as Zs}from"../vendor/preact.js";var Ip={ns:1e-6,us:.001,µs:.001,ms:1,s:1e3,m:6e4,h:36e5};function kl(e){return/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(e)?[...e.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)].reduce((t,[,n,o])=>t+Number(n)*Ip[o],0):NaN}function Uo(e){let t=kl(e);return t>=1?t>=1e3&&t%1e3===0?he(t/1e3):s("operations.slow.ms",{n:t}):e}function vl(){let{data:e,error:t,reload:n}=M(u=>E("/slow",{query:{max:200},signal:u}),[],{every:3e3}),{write:o}=y(D),[r,a]=Zs(null);if(!e)return t?we`<${g} error=${t} retry=${n} />`:we`<${I} lines=${6} />`;let{threshold:i,mongoThreshold:l,queries:c}=e;return we`<section class="panel" aria-labelledby="slow"><h2 id="slow">${s("operations.slow")}</h2>
      <p>${i?s("operations.slow.from",{time:Uo(i)}):s("operations.slow.off")}
        ${l!==void 0&&we` ${l?s("operations.slow.mongo",{time:Uo(l)}):s("operations.slow.mongo.off")}`}</p>
      ${o&&we`<${qp} now=${i} onSet=${n} />`}</section>
    <${g} error=${t} retry=${n} />
    ${c.length===0?we`<${Z} title=${s("operations.slow.none")}><p>${s(i?"operations.slow.none.why":"operations.slow.none.off")}</p><//>`:we`<section class="panel"><div class="scroll" tabindex="0" role="region" aria-label=${s("operations.slow")}><table class="slow-table">
      <thead><tr><th>${s("operations.time")}</th><th class="number">${s("operations.slow.took")}</th><th>${s("operations.slow.what")}</th><th>${s("operations.slow.query")}</th><th class="number">${s("operations.slow.examined")}</th><th class="number">${s("operations.slow.returned")}</th></tr></thead>
      <tbody>${c.map((u,m)=>{let d=`${u.time}/${u.operation}/${u.milliseconds}`;return we`<${Rp} key=${d} q=${u} id=${`slow-${m}`} open=${r===d} toggle=${()=>a(r===d?null:d)} />`})}</tbody></table></div></section>`}`}var Ap=e=>/\bCOLLSCAN\b|^scan\b/m.test(e);function Rp({q:e,id:t,open:n,toggle:o}){return we`<tr><td><${st} time=${e.time} short /></td><td class="number">${S(e.milliseconds,{maximumFractionDigits:e.milliseconds<10?2:0})} ms</td>
      <td class="what"><div class="row"><span>${e.operation}</span><span class="badge">${e.api==="mongo"?"MongoDB":"NoSQL"}</span></div>
        <div class="ellipsis detail" title=${`${e.database}/${e.container}`}>${e.database}${e.container&&` / ${e.container}`}</div></td>
      <td><div class="query-cell"><button class="quiet" aria-expanded=${n} aria-controls=${t} title=${e.query} onClick=${o}>
        <span aria-hidden="true">${n?"▾":"▸"}</span><code class="ellipsis">${e.query||s("operations.slow.details")}</code></button>
        ${Ap(e.plan)&&we`<span class="badge warn">${s("operations.slow.scan")}</span>`}</div></td>
      <td class="number">${S(e.examined)}</td><td class="number">${S(e.returned)}</td></tr>
    ${n&&we`<tr class="details" id=${t}><td colspan="6"><div class="slow-details">
      ${e.query&&we`<div><h3>${s("operations.slow.query")}</h3><pre>${e.query}</pre></div>`}
      <div><h3>${s("operations.slow.plan")}</h3>${e.plan?we`<pre>${e.plan}</pre>`:we`<p class="hint">${s("operations.slow.noplan")}</p>`}</div></div></td></tr>`}`}function qp({now:e,onSet:t}){let[n,o]=Zs(""),[r,a]=Zs(null),i=n.trim(),l=kl(i)>0,c=async m=>{a(null);try{await Ke("/slow",{threshold:m}),T(m?s("operations.slow.from",{time:Uo(m)}):s("operations.slow.off"),"good"),o(""),t()}catch(d){a(d)}};return we`<form class="row" onSubmit=${m=>{m.preventDefault(),l&&c(i)}}><label class="row">${s("operations.slow.set")}
      <input class="short-field" value=${n} placeholder=${e||"100ms"} spellcheck="false" autocomplete="off" aria-invalid=${i!==""&&!l}
        aria-describedby="slow-words" onInput=${m=>o(m.target.value)} /></label>
    <button class="primary" disabled=${!l}>${s("operations.set")}</button>
    ${e&&we`<button type="button" onClick=${()=>c("")}>${s("operations.slow.disable")}</button>`}
    <small id="slow-words" class=${i&&!l?"bad-text":""}>${i===""?s("operations.slow.until"):l?`= ${Uo(i)}`:s("operations.slow.invalid")}</small></form>
    <${g} error=${r} />`}import{html as L,useEffect as Bp,useState as qn}from"../vendor/preact.js";import{html as Rn,useRef as Dp,useState as er}from"../vendor/preact.js";function xl({write:e}){let[t,n]=er(null),[o,r]=er(null),[a,i]=er(null),l=Dp(null),c=async()=>{l.current=new AbortController,i(null),r(null),n(0);try{let u=await Mp(l.current,n);r(u),T(s("operations.backup.done",{size:V(u)}),"good")}catch(u){u.name!=="AbortError"&&i(u)}n(null)};return Rn`<section class="panel" aria-labelledby="backup"><h2 id="backup">${s("operations.backup")}</h2>
    <p>${s("operations.backup.what")}</p>
    ${!e&&Rn`<p class="hint">${s("operations.backup.readonly")}</p>`}
    ${e&&Rn`<div class="row buttons"><button disabled=${t!==null} onClick=${c}>${s("operations.backup.take")}</button>
      ${t!==null&&Rn`<${Ye} label=${s("operations.backup.running")} /><span class="detail">${s("operations.backup.got",{size:V(t)})}</span>
        <button class="quiet" onClick=${()=>l.current.abort()}>${s("cancel")}</button>`}
      ${o!==null&&Rn`<span class="detail" role="status">✓ ${s("operations.backup.done",{size:V(o)})}</span>`}</div>`}
    <p class="hint">${s("operations.backup.restore")} <code class="restore">${"mayfly restore - --data DIR < mayfly.tar"}</code></p>
    <${g} error=${a} /></section>`}async function Mp(e,t){let n=`mayfly-${F(Math.floor(Date.now()/1e3)).replaceAll(":","")}.tar`,o=self.showSaveFilePicker?await self.showSaveFilePicker({suggestedName:n}):null,{body:r}=await G("POST","/backup",{signal:e.signal,as:"response",headers:{Accept:"application/x-tar"}}),a=0,i=new TransformStream({transform(c,u){a+=c.length,t(a),u.enqueue(c)}}),l=r.pipeThrough(i);if(o){let c=await o.createWritable();await l.pipeTo(c,{signal:e.signal})}else Bo(n,await Lp(l));return a}var jp=16<<20;async function Lp(e){let t=[],n=[],o=0,r=e.getReader();for(;;){let{done:a,value:i}=await r.read();if(i&&(n.push(i),o+=i.length),(a||o>=jp)&&(t.push(new Blob(n)),n=[],o=0),a)return new Blob(t,{type:"application/x-tar"})}}import{html as rt,useState as _p}from"../vendor/preact.js";var zo=z(null);async function Pp(e){let t=await P(`${$e("keys",e)}/rotate`);zo.set(t);let n=await E("/session");n.needsKey&&!n.signedIn&&!t.readOnly&&D.set((await G("POST","/session",{body:{key:t.key}})).body)}function Sl({write:e}){let{data:t,error:n,reload:o}=M(l=>E("/keys",{signal:l}),[]),[r,a]=_p(null),i=y(zo);return rt`<section class="panel" aria-labelledby="keys"><h2 id="keys">${s("operations.keys")}</h2>
    <p class="hint">${s("operations.keys.what")}</p>
    <${g} error=${t?null:n} retry=${o} />
    ${!t&&!n&&rt`<${I} lines=${4} />`}
    ${t&&rt`<div class="scroll" tabindex="0" role="region" aria-label=${s("operations.keys")}><table class="keys-table">
      <thead><tr><th>${s("name")}</th><th>${s("operations.keys.rights")}</th><th>${s("operations.keys.origin")}</th><th>${s("operations.keys.since")}</th>
        ${e&&rt`<th><span class="visually-hidden">${s("operations.actions")}</span></th>`}</tr></thead>
      <tbody>${t.keys.map(l=>rt`<tr key=${l.name}><th scope="row"><code>${l.name}</code></th>
        <td>${s(l.readOnly?"operations.keys.reads":"operations.keys.writes")}</td><td>${l.origin}</td>
        <td>${l.since?rt`<${st} time=${l.since} />`:"–"}</td>
        ${e&&rt`<td class="actions"><button class="quiet" aria-label=${s("operations.keys.rotate.of",{name:l.name})}
          onClick=${()=>a(l.name)}>${s("operations.keys.rotate")}</button></td>`}</tr>`)}</tbody></table></div>`}
    ${r&&rt`<${ee} title=${s("operations.keys.rotate.of",{name:r})} action=${s("operations.keys.rotate")} onClose=${()=>a(null)}
      onConfirm=${async()=>{await Pp(r),o()}}><p>${s("operations.keys.ask")}</p><//>`}
    ${i&&!r&&rt`<${B} title=${s("operations.keys.new",{name:i.name})} onClose=${()=>zo.set(null)}
      footer=${rt`<button class="primary" onClick=${()=>zo.set(null)}>${s("close")}</button>`}>
      <p>${s("operations.keys.once")}</p><${_e} label=${s("operations.keys.key")} text=${i.key} /><//>`}</section>`}import{html as ze,useState as tr}from"../vendor/preact.js";function Cl({write:e}){let{data:t,error:n,reload:o}=M(m=>E("/snapshots",{signal:m}),[]),[r,a]=tr(null),i=t?.snapshots,l=async({name:m})=>{await P(`${$e("snapshots",m)}/load`),T(s("operations.snapshots.loaded",{name:m}),"good"),await Promise.all([j(),Tt()])},c=async({name:m})=>{await We($e("snapshots",m)),T(s("operations.snapshots.deleted",{name:m}),"good"),o()},u=(m,d)=>ze`<button class="quiet" aria-label=${s(`operations.snapshots.${m}.of`,{name:d.name})}
    onClick=${()=>a({work:m,one:d})}>${s(m==="load"?"operations.snapshots.load":"delete")}</button>`;return ze`<section class="panel" aria-labelledby="snapshots"><h2 id="snapshots">${s("operations.snapshots")}</h2>
    <p class="hint">${s("operations.snapshots.what")}</p>
    ${e&&ze`<${Fp} onSaved=${o} />`}
    <${g} error=${t?null:n} retry=${o} />
    ${!t&&!n&&ze`<${I} lines=${2} />`}
    ${i?.length===0&&ze`<p class="hint">${s("operations.snapshots.none")}</p>`}
    ${i?.length>0&&ze`<div class="scroll" tabindex="0" role="region" aria-label=${s("operations.snapshots")}><table>
      <thead><tr><th>${s("name")}</th><th>${s("operations.snapshots.saved")}</th><th>${s("nav.clock")}</th><th class="number">${s("home.column.bytes")}</th>
        ${e&&ze`<th><span class="visually-hidden">${s("operations.actions")}</span></th>`}</tr></thead>
      <tbody>${i.map(m=>ze`<tr key=${m.name}><th scope="row" class="ellipsis" title=${m.name}>${m.name}</th><td><${st} time=${m.saved} /></td>
        <td><time datetime=${m.clock} title=${F(Math.floor(Date.parse(m.clock)/1e3))}>${N(Date.parse(m.clock)/1e3)}</time></td>
        <td class="number">${V(m.bytes)}</td>${e&&ze`<td class="actions">${u("load",m)}${u("delete",m)}</td>`}</tr>`)}</tbody></table></div>`}
    ${r&&ze`<${ee} title=${s(`operations.snapshots.${r.work}.of`,{name:r.one.name})} onClose=${()=>a(null)}
      action=${s(r.work==="load"?"operations.snapshots.load":"delete")} onConfirm=${()=>(r.work==="load"?l:c)(r.one)}>
      <p>${s(`operations.snapshots.${r.work}.ask`)}</p><//>`}</section>`}function Fp({onSaved:e}){let[t,n]=tr(""),[o,r]=tr(null);return ze`<form class="row save-snapshot" onSubmit=${async i=>{i.preventDefault(),r(null);try{await P("/snapshots",{name:t}),T(s("operations.snapshots.done",{name:t}),"good"),n(""),e()}catch(l){r(l)}}}><input aria-label=${s("operations.snapshots.name")} placeholder=${s("operations.snapshots.name")}
      value=${t} onInput=${i=>n(i.target.value)} autocomplete="off" spellcheck="false" />
    <button disabled=${!t}>${s("operations.snapshots.save")}</button></form><${g} error=${o} />`}function El(){let{write:e}=y(D);return L`<${zp} write=${e} /><div class="operations-pair"><${Yp} write=${e} /><${xl} write=${e} /></div>
    <${Cl} write=${e} /><${Sl} write=${e} />`}var Jp=e=>!e.ended;function Up(){let[e,t]=qn({all:void 0,error:null}),n=r=>t(({all:a=[]})=>({error:null,all:[r,...a.filter(i=>i.id!==r.id)].sort((i,l)=>Date.parse(l.started)-Date.parse(i.started))})),o=r=>t(a=>({...a,all:a.all.filter(i=>i.id!==r)}));return Bp(()=>Jn(r=>E("/operations",{signal:r}),({operations:r})=>(t({all:r,error:null}),{route:"/operations/events",name:"operation",use:n}),r=>t(a=>({...a,error:r}))),[]),{...e,merge:n,forget:o}}function zp({write:e}){let{all:t,error:n,merge:o,forget:r}=Up(),[a,i]=qn(null),l=m=>(i(null),m().catch(i)),c=()=>l(async()=>o(await P("/check"))),u=m=>l(async()=>{let d=await We($e("operations",m.id));d?o(d):r(m.id)});return L`<section class="panel" aria-labelledby="running"><div class="row panel-head"><h2 id="running" class="grow">${s("operations.work")}</h2>
      <button onClick=${c}>${s("operations.check")}</button></div>
    <${g} error=${a??n} />
    ${!t&&!n&&L`<${I} lines=${2} />`}
    ${t?.length===0&&L`<p class="hint">${s("operations.work.none")}</p>`}
    <ul class="operation-list">${t?.map(m=>L`<${Gp} key=${m.id} op=${m} end=${e?u:null} />`)}</ul></section>`}var Kp=["check","index build","import","backup","copy"],nr=e=>Kp.includes(e)?s(`operations.kind.${e.replace(" ","-")}`):e,Wp={failed:"bad",cancelled:"warn",cancelling:"warn"};function Gp({op:e,end:t}){let n=Jp(e),o=e.target?`${nr(e.kind)} ${e.target}`:nr(e.kind),r=n?"cancel":"forget";return L`<li class="operation">
    <div class="operation-name"><strong>${nr(e.kind)}</strong> ${e.target&&L`<code class="ellipsis" title=${e.target}>${e.target}</code>`}
      <span class=${`badge ${Wp[e.state]??""}`}>${s(`operations.state.${e.state}`)}</span></div>
    <div class="operation-state">${n?L`<${Vp} op=${e} name=${o} />`:L`<${Hp} op=${e} />`}</div>
    <small class="operation-time"><${st} time=${e.started} /> · ${e.seconds<1?s("operations.moment"):Ie(e.seconds)}</small>
    ${t&&e.state!=="cancelling"?L`<button class="quiet" aria-label=${s(`operations.${r}.of`,{name:o})}
      onClick=${()=>t(e)}>${s(n?"cancel":"operations.forget")}</button>`:L`<span></span>`}</li>`}function Vp({op:e,name:t}){let n=e.total>0?Math.min(1,e.done/e.total):null,o=e.total>0?s("operations.progress",{done:e.done,total:e.total,unit:Ol(e.unit)}):s("operations.progress.open",{done:e.done,unit:Ol(e.unit)});return L`<progress aria-label=${t} ...${n===null?{}:{value:n,max:1}}></progress>
    <span class="detail">${n!==null&&L`<b>${S(n,{style:"percent"})}</b> · `}${o}</span>`}var Ol=e=>["documents","items","bytes"].includes(e)?s(`operations.unit.${e}`):e??"";function Hp({op:e}){let{result:t,error:n}=e;if(n)return L`<span class="bad-text">${n.detail||n.title}</span>`;if(!t)return null;if(e.kind!=="check"||t.consistent===void 0)return L`<code class="outcome">${JSON.stringify(t)}</code>`;let o=s("operations.check.read",{n:t.documents,containers:S(t.containers),entries:S(t.entries)});return t.consistent?L`<span>✓ ${s("operations.check.good")}</span> <span class="detail">${o}</span>`:L`<span class="bad-text">${s("operations.check.bad",{n:t.problemsFound})}</span> <span class="detail">${o}</span>
    <ul>${(t.problems??[]).map(r=>L`<li>${r}</li>`)}</ul>`}function Yp({write:e}){let{data:t,error:n,reload:o}=M(d=>E("/reclaim",{signal:d}),[],{every:2e3}),[r,a]=qn(!1),[i,l]=qn(!1),[c,u]=qn(null),m=async(d,$)=>{a(!0),u(null);try{await P(d),T(s($),"good")}catch(p){u(p)}a(!1),o()};return L`<section class="panel" aria-labelledby="reclaim"><div class="row panel-head"><h2 id="reclaim" class="grow">${s("operations.reclaim")}
      ${t&&L` <span class=${t.paused?"badge warn":"badge"}>${s(t.paused?"operations.reclaim.paused":"operations.reclaim.on")}</span>`}</h2>
      ${r&&L`<${Ye} />`}</div>
    ${!t&&!n&&L`<${I} lines=${2} />`}
    <${g} error=${c??(t?null:n)} retry=${c?void 0:o} />
    ${t&&L`<dl class="facts">
      <div><dt>${s("operations.reclaim.backlog")}</dt><dd>${S(t.backlog)}</dd></div>
      <div><dt>${s("operations.reclaim.lag")}</dt><dd>${t.lagSeconds>0?Ie(t.lagSeconds):"–"}</dd></div>
      <div><dt>${s("operations.reclaim.done")}</dt><dd>${S(t.reclaimedDocuments)} · ${V(t.reclaimedBytes)}</dd></div></dl>
      ${e&&L`<div class="row buttons"><button disabled=${r} onClick=${()=>m("/reclaim","operations.reclaim.now.done")}>${s("operations.reclaim.now")}</button>
        ${t.paused?L`<button disabled=${r} onClick=${()=>m("/reclaim/resume","operations.reclaim.resumed")}>${s("operations.reclaim.resume")}</button>`:L`<button disabled=${r} onClick=${()=>l(!0)}>${s("operations.reclaim.pause")}</button>`}</div>`}`}
    ${i&&L`<${ee} title=${s("operations.reclaim.pause")} action=${s("operations.reclaim.pause")} danger=${!1}
      onClose=${()=>l(!1)} onConfirm=${async()=>{await P("/reclaim/pause"),o()}}><p>${s("operations.reclaim.pause.what")}</p><//>`}</section>`}var Tl={work:El,slow:vl,connections:wl,audit:ul,connect:bl};function Nl({tab:e="work"}){let t=Tl[e];Xp(()=>{document.querySelector(".container-head .tabs [aria-current]")?.scrollIntoView({block:"nearest",inline:"nearest"})},[e]);let n=Object.keys(Tl).map(o=>({name:o,label:s(`operations.${o}`),href:R("operations",o)}));return or`<div class="container-head"><h1>${s("nav.operations")}</h1>
      <${Vn} label=${s("nav.operations")} current=${e} tabs=${n} /></div>
    ${t?or`<div class="operations"><${t} key=${e} /></div>`:or`<${Z} title=${s("nowhere")}><a href=${R("operations")}>${s("nav.operations")}</a><//>`}`}var Il={items:Ga,query:Hi,settings:rl,lifetime:Ws};function Rl({locked:e}){let t=Jt(),n=y(ft),[o,r]=sr(!1),[a,i]=sr(!1),[l,c]=sr(!1);return Qp(()=>r(!1),[t]),zn([{key:"mod+k",label:s("key.palette"),run:()=>i(!0)},{key:"?",label:s("key.help"),run:()=>c(!0)},{key:"h",label:s("nav.home"),run:()=>se()},{key:"l",label:s("nav.lifetime"),run:()=>se("lifetime")},{key:"o",label:s("nav.operations"),run:()=>se("operations")},{key:"t",label:s("key.tree"),run:()=>{r(!0),setTimeout(()=>document.querySelector(".tree input")?.focus(),0)}}]),J`
    <a class="skip" href="#main" onClick=${u=>{u.preventDefault(),document.getElementById("main").focus()}}>${s("skip")}</a>
    <header class="bar">
      <button class="quiet drawer-button" aria-label=${s("nav.tree")} aria-expanded=${o} onClick=${()=>r(!o)}>☰</button>
      <a class="logo" href=${R()}><img src="/_explorer/src/icon.svg" alt="" width="22" height="22" />mayfly</a>
      <${Al} at=${t.steps[0]} />
      <button class="palette-button" onClick=${()=>i(!0)}>
        <span class="long">${s("palette.open")}</span><span class="short" aria-hidden="true">⌕</span> <kbd aria-hidden="true">Ctrl K</kbd></button>
      <${t$} />
      <${n$} onHelp=${()=>c(!0)} />
    </header>
    ${!n&&J`<div class="offline" role="alert">${s("error.unreachable")} ${s("reconnecting")}</div>`}
    <div class="body">
      <aside class=${o?"open":""} aria-label=${s("nav.tree")}><${Al} at=${t.steps[0]} /><${Pr} /></aside>
      ${o&&J`<div class="shade" onClick=${()=>r(!1)}></div>`}
      <main id="main" tabindex="-1">${(!e||Wn())&&J`<${e$} route=${t} />`}</main>
    </div>
    ${a&&J`<${qr} onClose=${()=>i(!1)} />`}
    ${l&&J`<${r$} onClose=${()=>c(!1)} />`}
    <${Zp} />`}function Zp(){let e=y(rn);return e?J`<${ee} title=${s("items.unsaved")} action=${s("items.unsaved.discard")} onConfirm=${e.goOn}
    onClose=${()=>rn.set(null)}><p>${s("leave.ask")}</p><//>`:null}function e$({route:e}){let t=y(Se),[n,o,r,a="items"]=e.steps;switch(n){case void 0:return J`<${Yr} />`;case"lifetime":return J`<${Ws} />`;case"clock":return J`<${ll} />`;case"operations":return J`<${Nl} tab=${o} />`;case"c":break;default:return J`<${Z} title=${s("nowhere")}><a href=${R()}>${s("nav.home")}</a><//>`}let i=$r(t,o,r),l=Il[a];if(!t.databases&&!t.error)return J`<${I} lines=${6} />`;if(!i||!l)return J`<${Z} title=${s("container.missing",{name:`${o}/${r}`})}><a href=${R()}>${s("nav.home")}</a><//>`;let c=u=>({name:u,label:s(`tab.${u}`),href:R("c",o,r,u)});return J`<div class="container-head">
      <h1><span class="of">${o} /</span> <span class="name">${r}</span>
        <span class="badge">${i.dialect==="mongodb"?"MongoDB":"NoSQL"}</span></h1>
      <${Vn} label=${s("tab.label",{name:r})} current=${a} tabs=${Object.keys(Il).map(c)} /></div>
    <${l} key=${`${o}/${r}/${a}`} db=${o} container=${i} query=${e.query} />`}function Al({at:e}){let t=(n,...o)=>J`<a href=${R(...o)} aria-current=${e===o[0]?"page":void 0}>${s(n)}</a>`;return J`<nav class="places" aria-label=${s("nav.places")}>
    ${t("nav.home")}${t("nav.lifetime","lifetime")}${t("nav.operations","operations")}</nav>`}function t$(){let{virtual:e}=y(ke),t=Ft(),n=N(t,{hour:"2-digit",minute:"2-digit",second:"2-digit"});return e?J`<a class="clock-badge virtual" href=${R("clock")} title=${F(t)}>◷ ${N(t)}</a>`:J`<time class="clock-badge" title=${F(t)}>${n}</time>`}function n$({onHelp:e}){let t=y(sn),{needsKey:n,signedIn:o}=y(D),r={system:"light",light:"dark",dark:"system"},a=async()=>{await We("/session"),D.set(i=>({...i,signedIn:!1,signedOut:!0}))};return J`<div class="preferences">
    <button class="quiet" onClick=${()=>sn.set(r[t])} title=${s(`theme.${t}`)}
      aria-label=${s("theme.label",{name:s(`theme.${t}`)})}>${{system:"◐",light:"☀",dark:"☾"}[t]}</button>
    <select aria-label=${s("language")} value=${ht()} onChange=${i=>vr(i.target.value)}>
      ${Object.entries(Qo).map(([i,l])=>J`<option value=${i} selected=${i===ht()} lang=${i}>${l}</option>`)}</select>
    <button class="quiet" aria-label=${s("key.help")} title=${s("key.help")} onClick=${e}>?</button>
    ${n&&o&&J`<button class="quiet" onClick=${()=>Ir(a)}>${s("session.out")}</button>`}
  </div>`}var o$={mod:/Mac/.test(navigator.platform)?"⌘":"Ctrl",enter:"Enter",delete:"Del"},s$=e=>e.split("+").map(t=>o$[t]??(t.length===1?t.toUpperCase():t));function r$({onClose:e}){let t=y(Nt);return J`<${B} title=${s("key.help")} onClose=${e}>
    <table class="keys"><tbody>${t.flat().filter(n=>n.label).map(n=>J`<tr><th scope="row">${s$(n.key).map(o=>J`<kbd>${o}</kbd>`)}</th>
      <td>${n.label}</td></tr>`)}
      <tr><th scope="row"><kbd>Ctrl</kbd><kbd>Enter</kbd></th><td>${s("key.run")}</td></tr>
      <tr><th scope="row"><kbd>Esc</kbd></th><td>${s("key.escape")}</td></tr></tbody></table><//>`}import{html as rr,useEffect as a$,useRef as i$,useState as ar}from"../vendor/preact.js";function ql({over:e}){let t=i$(null);a$(()=>{t.current?.showModal()},[]);let[n,o]=ar(""),[r,a]=ar(!1),[i,l]=ar(null),u=rr`<form onSubmit=${async m=>{m.preventDefault(),a(!0),l(null);try{let{body:d}=await G("POST","/session",{body:{key:n.trim()}});D.set(d)}catch(d){l(d),a(!1)}}}>
    <h1><img src="/_explorer/src/icon.svg" alt="" width="28" height="28" />mayfly</h1>
    <p>${s("login.why")}</p>
    <label class="field">${s("login.key")}
      <input type="password" value=${n} onInput=${m=>o(m.target.value)} autocomplete="current-password" autofocus /></label>
    <button class="primary" disabled=${!n.trim()||r}>${s("login.open")}</button>
    <${g} error=${i} /></form>`;return e?rr`<dialog class="login" ref=${t} aria-label="mayfly" onCancel=${m=>m.preventDefault()}
    onKeyDown=${m=>{m.key==="Escape"&&m.preventDefault()}} onClose=${()=>t.current?.showModal()}>${u}</dialog>`:rr`<main class="login">${u}</main>`}function m$(){xr();let{needsKey:e,signedIn:t,signedOut:n}=y(D),o=e&&!t,[r,a]=u$(!1);c$(()=>{if(!o){if(r){j();return}fr(),gr(),a(!0)}},[o]);let i=!o||r&&!n;return Ko`${i&&Ko`<${Rl} locked=${o} />`}${o&&Ko`<${ql} over=${i} />`}<${jr} />`}async function ir(){try{D.set(await E("/session"))}catch{if(ft.get()){setTimeout(ir,3e3);return}let e=ft.subscribe(()=>{e(),ir()})}}Un();await es();await ir();l$(Ko`<${m$} />`,document.getElementById("app"));
